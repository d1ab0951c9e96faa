"""The hands of a person: a mouse, or nothing but a keyboard. The flows are played with both."""

import pathlib
from collections.abc import Callable

from playwright.sync_api import Locator, Page

from browser import check, keyboards

# More stops than any page of the flows has.
MOST_STOPS = 300
HAS_FOCUS = "elements => elements.includes(document.activeElement)"


def has_mouse(page: Page) -> bool:
    return not any(page is known for known in keyboards)


def reach(page: Page, target: Locator) -> bool:
    """Presses Tab until the target, or one of several, has the focus."""
    for _ in range(MOST_STOPS):
        if target.evaluate_all(HAS_FOCUS):
            return True
        page.keyboard.press("Tab")
    return check(False, f"{target} of {page.url} cannot be reached by the keyboard")


def _is_typed(page: Page, target: Locator) -> bool:
    """Whether to use the keyboard, which has then reached the target. An element that it cannot reach is a failure, and is used with the mouse, so that
    the flow goes on."""
    return not has_mouse(page) and reach(page, target)


def _use(page: Page, target: Locator, by_keyboard: Callable[[], object], by_mouse: Callable[[], object]) -> None:
    if _is_typed(page, target):
        by_keyboard()
    else:
        by_mouse()


def press(page: Page, target: Locator) -> None:
    """Uses a button or a link, and waits for the page that follows."""
    # The walk to the target must not count as time of the navigation.
    is_typed = _is_typed(page, target)
    with page.expect_navigation():
        if is_typed:
            page.keyboard.press("Enter")
        else:
            target.click()


def write(page: Page, field: Locator, text: str) -> None:
    """Replaces the text of a field."""

    def typed() -> None:
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        page.keyboard.type(text)

    _use(page, field, typed, lambda: field.fill(text))


def tick(page: Page, box: Locator) -> None:
    _use(page, box, lambda: box.is_checked() or page.keyboard.press("Space"), box.check)
    check(box.is_checked(), f"{box} of {page.url} is not checked")


def pick(page: Page, choices: Locator, value: str) -> None:
    """One of several radio buttons; with the keyboard, by the arrows."""
    wanted = choices.and_(page.locator(f'[value="{value}"]'))

    def moved() -> None:
        for _ in range(choices.count()):
            if not wanted.is_checked():
                page.keyboard.press("ArrowDown")

    _use(page, choices, moved, wanted.check)
    check(wanted.is_checked(), f"{value} of {page.url} is not chosen")


def select(page: Page, options: Locator, value: str) -> None:
    """An option of a list; with the keyboard, by its first letters."""
    _use(page, options, lambda: page.keyboard.type(value), lambda: options.select_option(value))
    found = options.input_value()
    check(found == value, f"{value} of {page.url} is not selected: {found}")


def attach(page: Page, field: Locator, file: pathlib.Path) -> None:
    def opened() -> None:
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Enter")
        chooser.value.set_files(file)

    _use(page, field, opened, lambda: field.set_input_files(file))


def submit(page: Page, path: str) -> None:
    """Presses the main button of the form that posts to a path, and waits for the page that follows."""
    form = page.locator(f'form[action$="/{path}"]').first
    press(page, form.locator("button:not([data-second]):not([data-copy])").first)
