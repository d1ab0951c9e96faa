import Foundation
import Model
import Secrets

/// Credentials and other secrets of a provisioning file.
extension ProvisioningReader {
    func credential(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> ProvisioningFile.Credential {
        var fields = try StrictFields(json, path: path)
        let id = CredentialID(try fields.name("id"))
        let kind = try fields.text("kind")
        var team: String?
        var keyID: String?
        let secret: CredentialSecret
        switch kind {
        case "apns-token":
            team = try fields.name("teamId")
            keyID = try fields.name("keyId")
            secret = .signingKey(pem: try required(&fields, "privateKeyFile", path), topics: try topics(&fields))
        case "apns-certificate": secret = try certificate(&fields, path)
        default: return try upstream(id, kind, &fields)
        }
        let endpoint = try endpoint(&fields, "endpoint", path)
        let channelEndpoint = try self.endpoint(&fields, "channelEndpoint", path)
        // A call cannot direct pushes to another server, so it states no authorities either: trustRoots is an unknown key.
        let roots = containsFiles ? nil : try file(&fields, "trustRootsFile", path)
        let rate = try fields.rate("pushesPerSecond")
        try fields.finish()
        return .init(
            id: id,
            teamID: team,
            keyID: keyID,
            secret: secret,
            endpoint: endpoint,
            channelEndpoint: channelEndpoint,
            trustRoots: roots,
            pushesPerSecond: rate
        )
    }

    private func endpoint(_ fields: inout StrictFields, _ key: String, _ path: String) throws(ProvisioningProblem)
        -> String?
    {
        let endpoint = try fields.optionalText(key)
        guard endpoint?.hasPrefix("https://") != false else {
            throw ProvisioningProblem(path: "\(path).\(key)", problem: "must start with https://")
        }
        return endpoint
    }

    /// Reads `pkcs12File`, or `certificateFile` with the key in it or in `privateKeyFile`, and `passphraseEnv` or `passphraseFile` if there is one.
    private func certificate(_ fields: inout StrictFields, _ path: String) throws(ProvisioningProblem)
        -> CredentialSecret
    {
        let passphrase = try optionalSecret(&fields, "passphrase")
        if let bytes = try file(&fields, "pkcs12File", path) { return .pkcs12(bytes, passphrase: passphrase) }
        guard let certificate = try file(&fields, "certificateFile", path) else {
            throw ProvisioningProblem(path: path, problem: "needs pkcs12File or certificateFile")
        }
        let key = try file(&fields, "privateKeyFile", path)
        return .pem(certificate: certificate, privateKey: key, passphrase: passphrase)
    }

    /// The topics of a topic-specific key, as declared in the file; nil: every topic of the team.
    private func topics(_ fields: inout StrictFields) throws(ProvisioningProblem) -> [String]? {
        var topics: [String] = []
        for (path, value) in try fields.list("topics") {
            guard let topic = value.string, !topic.isEmpty else {
                throw ProvisioningProblem(path: path, problem: "must be a bundle id")
            }
            topics.append(topic)
        }
        return topics.isEmpty ? nil : topics
    }

    func required(_ fields: inout StrictFields, _ key: String, _ path: String) throws(ProvisioningProblem)
        -> [UInt8]
    {
        guard let bytes = try file(&fields, key, path) else {
            throw ProvisioningProblem(path: "\(path).\(key)", problem: "is missing")
        }
        return bytes
    }

    func optionalSecret(_ fields: inout StrictFields, _ name: String) throws(ProvisioningProblem) -> String? {
        let path = fields.path
        if containsFiles { return try fields.optionalText(name) }
        if let variable = try fields.optionalText(name + "Env") {
            guard let value = environment[variable], !value.isEmpty else {
                throw ProvisioningProblem(
                    path: "\(path).\(name)Env",
                    problem: "the environment has no variable \(variable)"
                )
            }
            return value
        }
        if let bytes = try file(&fields, name + "File", path) {
            return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        if let inline = try fields.optionalText(name) {
            guard allowsInlineSecrets else {
                throw ProvisioningProblem(
                    path: "\(path).\(name)",
                    problem:
                        "secrets are not permitted in the file: use \(name)Env or \(name)File, or --allow-inline-secrets"
                )
            }
            return inline
        }
        return nil
    }

    func file(_ fields: inout StrictFields, _ key: String, _ path: String) throws(ProvisioningProblem)
        -> [UInt8]?
    {
        if containsFiles { return try content(&fields, key, path) }
        guard let name = try fields.optionalText(key) else { return nil }
        let full = name.hasPrefix("/") ? name : "\(directory)/\(name)"
        guard let data = FileManager.default.contents(atPath: full) else {
            throw ProvisioningProblem(path: "\(path).\(key)", problem: "cannot read \(full)")
        }
        guard data.count <= 1 << 20 else {
            throw ProvisioningProblem(path: "\(path).\(key)", problem: "is larger than 1 MiB")
        }
        return Array(data)
    }

    /// 64 KiB: a certificate with its chain and key has less than 10 KiB.
    static let contentBytes = 64 << 10

    /// The content of a file that is in a field itself, as text; that of a .p12 as base64.
    private func content(_ fields: inout StrictFields, _ key: String, _ path: String) throws(ProvisioningProblem)
        -> [UInt8]?
    {
        let key = Self.contentKey(key)
        guard let value = fields.value(key) else { return nil }
        guard let text = value.string, !text.isEmpty, text.utf8.count <= Self.contentBytes else {
            throw ProvisioningProblem(
                path: "\(path).\(key)",
                problem: "must be text of at most \(Self.contentBytes) bytes"
            )
        }
        guard key == Self.contentKey("pkcs12File") else { return Array(text.utf8) }
        guard let data = Data(base64Encoded: text) else {
            throw ProvisioningProblem(path: "\(path).\(key)", problem: "must be base64")
        }
        return Array(data)
    }

    /// The field that contains a file's content: `privateKey` for `privateKeyFile`.
    static func contentKey(_ key: String) -> String { key.hasSuffix("File") ? String(key.dropLast(4)) : key }
}
