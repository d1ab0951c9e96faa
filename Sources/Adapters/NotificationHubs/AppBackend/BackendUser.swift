import Crypto
import Foundation
import HTTPTypes
import Model

/// The user of a call to the tutorial's back end: `Authorization: Basic` (docs/contracts/notificationhubs.md#10.1).
struct BackendUser: Hashable {
    /// As received.
    let name: String

    /// The tag that selects the user's devices.
    var tag: String { Self.tag(name) }

    /// The owner of the user's images. Names that differ only in case are equal, as for tags.
    var owner: String { name.lowercased() }

    static let tagPrefix = "username:"

    static func tag(_ name: String) -> String { tagPrefix + name }

    /// - Throws: `AdapterError(.unauthorized)`, without revealing which of name and password is wrong.
    init(_ request: VendorRequest, settings: HubsSettings) throws(AdapterError) {
        guard let text = request.headers[.authorization], text.utf8.count <= HubsLimits.authorizationBytes,
            let (name, password) = Self.credentials(text), settings.backend.accepts(name, password)
        else { throw AdapterError(.unauthorized) }
        self.name = name
    }

    /// The name in the header of a call, whether or not the password is right. Nil: not Basic, or not a valid name.
    static func shownName(_ text: String) -> String? {
        text.utf8.count <= HubsLimits.authorizationBytes ? credentials(text)?.name : nil
    }

    /// Nil: not Basic, or not a valid name.
    private static func credentials(_ text: String) -> (name: String, password: String)? {
        // iOS breaks long base64 into lines.
        let parts = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
        guard let data = Data(base64Encoded: String(parts[1].filter { !$0.isWhitespace })),
            let plain = String(validating: data, as: UTF8.self), let colon = plain.firstIndex(of: ":")
        else { return nil }
        let name = String(plain[..<colon])
        // Each name is also a tag.
        guard Tag(tag(name)) != nil, !name.isEmpty else { return nil }
        return (name, String(plain[plain.index(after: colon)...]))
    }
}

/// The settings of the tutorial's back end in a binding. Its passwords are the binding's secrets.
package struct BackendSettings: Sendable {
    /// The kind of the key that identifies a binding; its value is the prefix in lower case, or `api` if there is none.
    package static let keyKind = "appbackend"
    package static let rootKey = BackendPath.root
    /// The setting: `{"acceptsNames": true, "image": …, "message": …}`.
    package static let key = "appBackend"
    package static let namesKey = "acceptsNames"
    package static let imageKey = "image"
    package static let messageKey = "message"

    /// Without case, as tags are: a user `MINA` with another password must not get the tag of `mina`.
    package static func secretName(of user: String) -> String { "user/\(user.lowercased())" }

    /// Whether the name is allowed; it becomes part of a tag.
    package static func isName(_ name: String) -> Bool { !name.isEmpty && Tag(BackendUser.tag(name)) != nil }

    private let binding: BindingSettings

    init(_ binding: BindingSettings) { self.binding = binding }

    private var values: JSONObject? { binding.values[Self.key]?.object }

    /// The text of a rich push without a text of its own. Default: the tutorial's text.
    var message: String { values?[Self.messageKey]?.string ?? "Check this image out!" }

    /// The hash of the image of a rich push.
    var image: String? { values?[Self.imageKey]?.string }

    /// Digests are compared, and an unknown name is compared as well, so that the time reveals nothing.
    func accepts(_ name: String, _ password: String) -> Bool {
        let known = binding.secrets[Self.secretName(of: name)]
        if known == nil, values?[Self.namesKey]?.bool == true { return name == password }
        let shown = Array(password.utf8)
        return SHA256.hash(data: known ?? [0] + shown) == SHA256.hash(data: shown) && known != nil
    }
}
