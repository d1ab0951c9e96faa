"""The bytes that a page transfers, to a browser with an empty cache and to one that has the files of the console."""

from playwright.sync_api import Page

# Bytes: with the files of the console, and without them.
FIRST_VIEW, LATER_VIEW = 100_000, 40_000


class Transfer:
    """Counts the bytes that a page of Chromium receives, heads included: compressed, and none for a file from the cache."""

    def __init__(self, page: Page) -> None:
        self._kinds: dict[str, str] = {}
        self._document = 0
        self._files = 0
        # Of the files together, which the first page transfers and the later ones do not.
        self.files = 0
        session = page.context.new_cdp_session(page)
        session.on("Network.responseReceived", self._answered)
        session.on("Network.loadingFinished", self._finished)
        session.send("Network.enable")

    def _answered(self, event: dict) -> None:
        self._kinds[event["requestId"]] = event["type"]

    def _finished(self, event: dict) -> None:
        # A stream is not a part of the page, and does not end while it is open.
        if self._kinds.get(event["requestId"]) == "Document":
            self._document += round(event["encodedDataLength"])
        elif self._kinds.get(event["requestId"]) in ("Stylesheet", "Script", "Image", "Font", "Other"):
            self._files += round(event["encodedDataLength"])

    def begin(self) -> None:
        self._kinds, self._document, self._files = {}, 0, 0

    def sizes(self) -> tuple[int, int]:
        """The first and a later view of the page that was opened since `begin`."""
        self.files = max(self.files, self._files)
        return self._document + self.files, self._document
