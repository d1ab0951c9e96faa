import ApplePayload
import Model

/// The kind of content that the name of a field indicates. The names in this file are common to many systems; vendors declare their own (`CaptureNaming`).
enum KeyClass: Sendable, Hashable {
    /// A credential: never shown, whatever its value looks like.
    case secret
    case phone
    /// A text that a person reads on a device: shown only when a capture keeps texts.
    case text
    /// A value that identifies a person.
    case personal
    /// A field that is judged by its value alone.
    case plain

    /// - Parameters:
    ///   - name: the name as received.
    ///   - vendors: the vendors' own names, from `names(of:)`.
    ///   - parent: the class of the enclosing field, which a plain field inherits.
    init(_ name: String, _ vendors: [String: KeyClass], in parent: KeyClass = .plain) {
        let folded = Self.folded(name)
        let own = vendors[folded] ?? Self.own(folded)
        self = own == .plain || parent == .secret ? (parent == .plain ? own : parent) : own
    }

    /// The vendors' own field names, for the look-up in `init`. Of two meanings the more secret one applies.
    static func names(of vendors: VendorCatalog) -> [String: KeyClass] {
        var names: [String: KeyClass] = [:]
        for (name, kind) in vendors.capturing.flatMap(\.fieldKinds) {
            let folded = folded(name)
            if names[folded] != .secret { names[folded] = KeyClass(kind) }
        }
        return names
    }

    private init(_ kind: FieldKind) {
        switch kind {
        case .secret: self = .secret
        case .phone: self = .phone
        case .text: self = .text
        case .personal: self = .personal
        }
    }

    /// 64 characters suffice to recognize a name.
    private static let nameLimit = 64

    private static func folded(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.prefix(nameLimit).compactMap { scalar in
                    switch scalar.value {
                    case 0x41...0x5A: Unicode.Scalar(scalar.value + 0x20)
                    case 0x30...0x39, 0x61...0x7A: scalar
                    default: nil
                    }
                }
            )
        )
    }

    private static func own(_ name: String) -> KeyClass {
        if secretNames.contains(name) || secretParts.contains(where: name.contains) || name.hasPrefix("auth")
            || name.hasSuffix("key")
        {
            return .secret
        }
        if phoneNames.contains(name) || phoneParts.contains(where: name.contains) { return .phone }
        if textNames.contains(name) { return .text }
        if personalNames.contains(name) || personalParts.contains(where: name.contains) || name.hasSuffix("nm") {
            return .personal
        }
        let isOfText = textParts.contains(where: name.contains) && !attributeEnds.contains(where: name.hasSuffix)
        return isOfText ? .text : .plain
    }

    private static let secretNames: Set = [
        "pw", "pin", "key", "sig", "code", "pass", "hmac", "nonce", "otp", "jwt",
        "sas",
    ]
    private static let secretParts = [
        "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "apikey", "authkey", "authorization",
        "authcode", "authnum", "credential", "signature", "cookie", "session", "bearer", "deviceregid",
        "registrationid", "regid", "privatekey", "accesskey", "serverkey", "restkey", "sdkkey", "pushkey", "uniquekey",
        "cert", "verif", "otp", "pincode", "smscode", "devicehandle",
    ]
    private static let phoneNames: Set = ["hp", "tel", "mdn", "msisdn", "cell"]
    private static let phoneParts = ["phone", "mobile", "msisdn", "cellno", "telno"]
    private static let textNames: Set = ["ext", "m", "t", "b", "mt", "subtitle", "html", AppleKey.aps]
    private static let textParts = [
        "title", "body", "message", "alert", "text", "subject", "content", "msg", "desc", "comment", "memo",
    ]
    // The number, kind or time of a message is not a text.
    private static let attributeEnds = [
        "id", "type", "count", "cnt", "size", "code", "yn", "no", "date", "time", "num", "seq", "flag", "status",
    ]
    private static let personalNames: Set = [
        "n", "id", "cn", "to", "from", "sender", "age", "mail", "lat", "lon", "lng",
    ]
    private static let personalParts = [
        "name", "user", "nick", "birth", "address", "email", "cuid", "auid", "usercn", "owner", "person", "customer",
        "member", "gender", "latitude", "longitude",
    ]
}
