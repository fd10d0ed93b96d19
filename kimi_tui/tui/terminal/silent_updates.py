"""Changes of widgets without the full redraw that Textual's public API causes."""

from textual.app import App
from textual.content import Content
from textual.css.styles import StylesBase
from textual.dom import DOMNode
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.widget import Widget


def set_border_subtitle(widget: Widget, content: Content) -> None:
    """Set the widget's `border_subtitle`, but redraw only the lower border."""
    widget._border_subtitle = content
    left, top = widget.content_offset
    widget.refresh(Region(-left, widget.outer_size.height - 1 - top, widget.outer_size.width, 1))


def invalidate_scrollbar(bar: ScrollBar) -> None:
    """Make `bar` render again, as with `refresh`, but without a redraw by the compositor."""
    bar._layout_cache.clear()
    bar._set_dirty()


def remove_notifications(app: App[object], text: str) -> None:
    """Remove the notifications with this text. The screen is updated with the next notification."""
    for notification in [it for it in app._notifications if it.message == text]:
        app._unnotify(notification, refresh=False)


def resolve_component_styles(widget: Widget, name: str) -> StylesBase:
    """Return the styles of a component class of `widget`.

    On every change of focus or hover, Textual resolves the styles of all COMPONENT_CLASSES of a widget. With
    dozens of classes, this is noticeably slow.
    """
    node = DOMNode(classes=name)
    node._attach(widget)
    widget.app.stylesheet.apply(node, animate=False)
    return node.styles
