"""StrReplaceFile: EditFile with the parameters of kimi-cli's tool."""

from typing import Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kimi_tui.tools.file.edit import EditFile, EditFileParams, EditParams
from kimi_tui.tools.tool import ToolParams


class _DocumentedParams(ToolParams):
    """The parameters in the schema for the model."""

    path: str = Field(description="The file: relative to the working directory, or absolute.")
    edit: EditParams | list[EditParams] = Field(
        description="One edit, or several, which are applied in order, all or none."
    )


class StrReplaceFileParams(EditFileParams):
    """Parameters of EditFile. The schema shows only `path` and `edit`."""

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(_DocumentedParams.__pydantic_core_schema__)


class StrReplaceFile(EditFile):
    """EditFile under the name known to models that were trained with kimi-cli."""

    name: ClassVar[str] = "StrReplaceFile"
    Params: Any = StrReplaceFileParams
