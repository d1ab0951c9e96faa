/// The address a push service gave one installation. APNs: lower-case hex of variable length.
package struct DeviceToken: Sendable, Hashable, CustomStringConvertible {
    /// 400 hex digits. Apple names no length (64, 108 and 160 are seen); a longer one is no token but an attack on the path.
    package static let maximumLength = 400

    /// 4 KiB of a token of another service: FCM names no length, and a token is a key of an index.
    package static let maximumTextBytes = 4 * 1024

    /// The wire form; for APNs lower-case hex.
    package let text: String

    /// An APNs token from hex of either case.
    ///
    /// Nil unless it is a non-empty even run of hex digits of at most `maximumLength`.
    package init?(apns text: String) {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength, bytes.count.isMultiple(of: 2),
            bytes.allSatisfy({ HexCoding.value(of: $0) != nil })
        else { return nil }
        self.text = text.lowercased()
    }

    /// An FCM registration token: opaque, printable, no space.
    package init?(fcm text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maximumTextBytes, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            return nil
        }
        self.text = text
    }

    /// A token that this gateway stored itself.
    package init(stored text: String) { self.text = text }

    /// First and last four digits: enough to recognise, too little to use.
    package var masked: String {
        text.utf8.count > 12 ? "\(text.prefix(4))…\(text.suffix(4))" : "…"
    }

    package var description: String { masked }
}

/// Which of a platform's two worlds a token belongs to.
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    case production, sandbox

    package var other: PushEnvironment { self == .production ? .sandbox : .production }
}

/// What the device runs.
package enum Platform: String, Sendable, Hashable, CaseIterable {
    case ios, android
}
