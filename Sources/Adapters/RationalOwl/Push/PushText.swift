import ApplePayload

/// The two texts of a push, each of which goes out three times, and how they shrink. A pure value.
///
/// The extension of the app replaces `alert` by `title` and `body`, and `notiTitle`, `notiBody` are read by one generation's extension only, so that
/// cutting them loses nothing if the extension runs (docs/contracts/rationalowl.md#6.2).
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
    /// What was cut, by its key on the wire.
    private(set) var reduced: [String] = []

    /// A title over its limit is cut at once, whatever the size of the rest.
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

    /// Makes one cut, and says whether it changed anything.
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

    /// The first characters, in bytes no more than four for each of them.
    private static func head(of text: String, characters: Int) -> String {
        var bytes = 0
        let head = text.prefix(characters).prefix { character in
            bytes += character.utf8.count
            return bytes <= characters * RationalOwlLimits.bytesPerCharacter
        }
        return String(head)
    }
}
