/// A displayed text: a literal, or a key that the device looks up in the app's translations.
///
/// It is an enum, because each `…-loc-key` of Apple replaces the literal key.
package enum AlertText: Sendable, Hashable {
    case literal(String)
    /// A key of the app's `Localizable.strings`, and the values that replace its `%@` in order.
    case localized(key: String, arguments: [String] = [])
}

extension AlertText: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self = .literal(value) }
}

/// The `alert` object. At least one of title, subtitle and body must be present.
///
/// Source: Apple, "Generating a remote notification", table 2 (2026-11).
package struct AlertContent: Sendable, Hashable {
    package var title: AlertText?
    package var subtitle: AlertText?
    package var body: AlertText?
    /// `launch-image`: the image shown while the app starts.
    package var launchImage: String?

    package init(
        title: AlertText? = nil,
        subtitle: AlertText? = nil,
        body: AlertText? = nil,
        launchImage: String? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.launchImage = launchImage
    }
}
