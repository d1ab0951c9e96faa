import ApplePayload

/// What a field holds, as far as its name tells. Vendors' names of many dialects, folded: lower-case letters and digits only.
enum KeyClass: Sendable, Hashable {
    /// What proves something: never shown, whatever it looks like.
    case secret
    case phone
    /// What a person reads on a device: shown only when a capture keeps texts.
    case text
    /// Who somebody is.
    case personal
    /// Judged by its value alone.
    case plain

    /// - Parameters:
    ///   - name: as it came.
    ///   - parent: what it stands in; a plain field is what its parent is.
    init(_ name: String, in parent: KeyClass = .plain) {
        let own = Self.own(Self.folded(name))
        self = own == .plain || parent == .secret ? (parent == .plain ? own : parent) : own
    }

    /// 64 characters are enough to know a name by.
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

    // UPMC: AUTHKEY, PSID (the device token), PASSWORD. RationalOwl: `tk`, `dRId`, `dRIds`, `an` (the code by text message). iPNS: PUSH_TOKEN.
    private static let secretNames: Set = [
        "pw", "pin", "key", "sig", "an", "tk", "tks", "drid", "drids", "code", "pass", "hmac", "nonce", "otp", "jwt",
        "sas",
    ]
    private static let secretParts = [
        "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "apikey", "authkey", "authorization",
        "authcode", "authnum", "credential", "signature", "cookie", "session", "bearer", "psid", "deviceregid",
        "registrationid", "regid", "privatekey", "accesskey", "serverkey", "restkey", "sdkkey", "pushkey", "uniquekey",
        "cert", "verif", "otp", "pincode", "smscode", "devicehandle",
    ]
    private static let phoneNames: Set = ["pn", "pns", "hp", "tel", "mdn", "msisdn", "cell"]
    private static let phoneParts = ["phone", "mobile", "msisdn", "cellno", "telno"]
    private static let textNames: Set = ["ext", "m", "t", "b", "mt", "subtitle", "html", AppleKey.aps]
    private static let textParts = [
        "title", "body", "message", "alert", "text", "subject", "content", "msg", "desc", "comment", "memo",
    ]
    // A message's number, kind or time is no text.
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
