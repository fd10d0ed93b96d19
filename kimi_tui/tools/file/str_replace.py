"""StrReplaceFile: EditFile with the parameters of kimi-cli's tool of that name."""

from typing import Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kimi_tui.tools.file.edit import Edit, EditFile, EditFileParams
from kimi_tui.tools.tool import ToolParams


class _Told(ToolParams):
    """The parameters as the model is told of them."""

    path: str = Field(description="The file: relative to the work dir, or absolute.")
    edit: Edit | list[Edit] = Field(
        description="One edit, or several, which are made in this order; all or none are made."
    )


class StrReplaceFileParams(EditFileParams):
    """What EditFile takes; the model is told of `edit` alone."""

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(_Told.__pydantic_core_schema__)


class StrReplaceFile(EditFile):
    """EditFile as models know it that were trained with kimi-cli."""

    name: ClassVar[str] = "StrReplaceFile"
    Params: Any = StrReplaceFileParams
