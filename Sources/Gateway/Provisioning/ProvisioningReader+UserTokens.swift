import Foundation
import Model
import SignedTokens

// An app's `userTokens`.
extension ProvisioningReader {
    /// `userTokens: { issuer: …, audience: …, keys: [ { publicKeyFile: user.pem }, { jwksFile: keys.json } ] }`. Nil: the app has none.
    ///
    /// - Throws: `ProvisioningProblem` that names the key.
    func userTokens(_ fields: inout StrictFields) throws(ProvisioningProblem) -> UserTokenRules? {
        guard let json = fields.value("userTokens") else { return nil }
        let path = "\(fields.path).userTokens"
        var own = try StrictFields(json, path: path)
        let issuer = try own.text("issuer")
        let audience = try own.text("audience")
        var keys: [String] = []
        for (path, value) in try own.list("keys") { keys += try tokenKeys(value, path) }
        try own.finish()
        guard (1...UserTokenRules.keyLimit).contains(keys.count) else {
            throw ProvisioningProblem(path: "\(path).keys", problem: "must be 1 to \(UserTokenRules.keyLimit) keys")
        }
        return UserTokenRules(keys: keys, issuer: issuer, audience: audience)
    }

    /// The keys of one entry, in PEM.
    private func tokenKeys(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> [String] {
        var fields = try StrictFields(json, path: path)
        let pem = try file(&fields, "publicKeyFile", path)
        let set = try file(&fields, "jwksFile", path)
        try fields.finish()
        switch (pem, set) {
        case (let bytes?, nil):
            guard let key = TokenKey(pem: String(decoding: bytes, as: UTF8.self)) else {
                throw ProvisioningProblem(
                    path: "\(path).publicKeyFile",
                    problem: "must be an RSA public key of 2,048 bits or more, or a P-256 public key, in PEM"
                )
            }
            return [key.pem]
        case (nil, let bytes?):
            let entries = (try? JSONParser.parse(bytes))?["keys"]?.array ?? []
            let keys = entries.compactMap { $0.object.flatMap { TokenKey(jwk: $0) } }
            guard !keys.isEmpty else {
                throw ProvisioningProblem(
                    path: "\(path).jwksFile",
                    problem: "must be a JSON web key set with an RSA or P-256 key for signatures"
                )
            }
            return keys.map(\.pem)
        case (nil, nil), (.some, .some):
            throw ProvisioningProblem(path: path, problem: "needs publicKeyFile or jwksFile")
        }
    }
}
