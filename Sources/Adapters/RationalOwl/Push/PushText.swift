import ApplePayload

/// The two texts of a push, each of which is sent three times, and the rules for shortening them. A pure value.
///
/// The app's extension replaces `alert` by `title` and `body`, and only one generation's extension reads `notiTitle` and `notiBody`. Shortening these
/// therefore loses nothing if the extension runs (docs/contracts/rationalowl.md#6.2).
struct PushText: Equatable {
    /// The texts that may be shortened, in this order (docs/contracts/rationalowl.md#6.2).
    enum Cut: String, CaseIterable {
        case alertBody, notiBody, titleCopies
    }

    var alertTitle: String
    var alertBody: String
    var title: String
    var body: String
    var notiTitle: String
    var notiBody: String
    /// The names of the shortened texts in the payload.
    private(set) var reduced: [String] = []

    /// A title over its limit is shortened in any case, whatever the size of the rest.
    init(title: String, body: String) {
        let short = Self.head(of: title, characters: RationalOwlLimits.titleCharacters)
        self.title = short.count < title.count ? short + "…" : title
        self.body = body
        alertTitle = self.title
        notiTitle = self.title
        // The extension runs only if the alert has a body (docs/contracts/rationalowl.md#6.2).
        alertBody = body.isEmpty ? self.title : body
        notiBody = body
        if self.title != title { reduced.append("title") }
    }

    /// Makes one cut. Returns whether it changed anything.
    mutating func apply(_ cut: Cut) -> Bool {
        let before = self
        switch cut {
        case .alertBody: shorten(\.alertBody, "alert.body", to: RationalOwlLimits.previewCharacters)
        case .notiBody: shorten(\.notiBody, "notiBody", to: RationalOwlLimits.previewCharacters)
        case .titleCopies:
            shorten(\.alertTitle, "alert.title", to: RationalOwlLimits.titlePreviewCharacters)
            shorten(\.notiTitle, "notiTitle", to: RationalOwlLimits.titlePreviewCharacters)
        }
        return self != before
    }

    /// Cuts the body to `limit` encoded bytes. This is the only cut that loses text on the device. Returns false if not even one character fits.
    mutating func cutBody(toEncodedBytes limit: Int) -> Bool {
        let room = limit - "…".utf8.count
        guard room > 0 else { return false }
        body = JSONText.head(of: body, encodedBytes: room) + "…"
        reduced.append("body")
        return true
    }

    private mutating func shorten(_ text: WritableKeyPath<PushText, String>, _ name: String, to characters: Int) {
        let head = Self.head(of: self[keyPath: text], characters: characters)
        guard head != self[keyPath: text] else { return }
        self[keyPath: text] = head
        reduced.append(name)
    }

    /// The first characters, with at most four bytes for each of them.
    private static func head(of text: String, characters: Int) -> String {
        var bytes = 0
        let head = text.prefix(characters).prefix { character in
            bytes += character.utf8.count
            return bytes <= characters * RationalOwlLimits.bytesPerCharacter
        }
        return String(head)
    }
}
