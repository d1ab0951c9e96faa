/// The address that a push service assigned to one installation. For APNs, lower-case hex of variable length.
package struct DeviceToken: Sendable, Hashable, CustomStringConvertible {
    /// 400 hex digits. Apple specifies no length (64, 108 and 160 occur). A longer text is treated as an attack on the path.
    package static let maximumLength = 400

    /// 4 KiB for a token of another service: FCM specifies no length, and a token is a key of an index.
    package static let maximumTextBytes = 4 * 1024

    /// The wire form; for APNs lower-case hex.
    package let text: String

    /// An APNs token from hex of either case.
    ///
    /// Returns nil unless the text has an even number of hex digits, at least 2 and at most `maximumLength`.
    package init?(apns text: String) {
        let count = text.utf8.count
        guard count > 0, count <= Self.maximumLength, count.isMultiple(of: 2) else { return nil }
        if text.hasByte(where: { HexCoding.value(of: $0) == nil }) { return nil }
        self.text = text.lowercased()
    }

    /// An FCM registration token: opaque, printable, without spaces.
    package init?(fcm text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumTextBytes, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            return nil
        }
        self.text = text
    }

    /// A token that this gateway stored itself.
    package init(stored text: String) { self.text = text }

    /// The first and last four digits: enough to recognise a token, too few to use it.
    package var masked: String {
        text.utf8.count > 12 ? "\(text.prefix(4))…\(text.suffix(4))" : "…"
    }

    package var description: String { masked }
}

/// The environment of a platform to which a token belongs.
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    case production, sandbox

    package var other: PushEnvironment { self == .production ? .sandbox : .production }
}

/// The operating system of the device.
package enum Platform: String, Sendable, Hashable, CaseIterable {
    case ios, android
}
