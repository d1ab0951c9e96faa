import Crypto
import Foundation

/// One provider key as Apple would store it: the public half, its team, and its permitted topics.
package struct ProviderKey: Sendable {
    /// 10 characters; the `iss` claim of tokens that the key signs.
    package let teamID: String

    /// 10 characters; the `kid` of tokens that the key signs.
    package let keyID: String

    /// The bundle identifiers that a topic-specific key may push to; nil for a team-scoped key, which may push to all apps of its team.
    package let topics: Set<String>?

    /// The only environment in which the key is valid; nil for both (keys from before Apple bound them to one).
    package let environment: APNsEnvironment?

    /// Whether the key was revoked.
    package let isRevoked: Bool

    /// Verifies the signatures.
    let publicKey: P256.Signing.PublicKey

    /// Creates a key from its PEM (`BEGIN PUBLIC KEY`, P-256).
    ///
    /// - Throws: `SimulatorError` if the PEM is not a P-256 public key.
    package init(
        teamID: String,
        keyID: String,
        publicKeyPEM: String,
        topics: Set<String>? = nil,
        environment: APNsEnvironment? = nil,
        isRevoked: Bool = false
    ) throws(SimulatorError) {
        do {
            publicKey = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
        } catch {
            throw SimulatorError(.keys, "The public key of \(keyID) is not a P-256 public key in PEM.")
        }
        self.teamID = teamID
        self.keyID = keyID
        self.topics = topics
        self.environment = environment
        self.isRevoked = isRevoked
    }
}

/// The provider keys of a simulator. It can also be configured without keys, to accept every token.
package struct KeyRegistry: Sendable {
    /// Accepts every well-formed token, whoever signed it. This is the default, for first experiments.
    package static let acceptingAnyKey = KeyRegistry(entries: [:], acceptsAnyKey: true)

    /// Whether signatures are not verified at all.
    package let acceptsAnyKey: Bool

    private let entries: [String: ProviderKey]

    private init(entries: [String: ProviderKey], acceptsAnyKey: Bool) {
        self.entries = entries
        self.acceptsAnyKey = acceptsAnyKey
    }

    /// Creates a registry of exactly these keys.
    ///
    /// - Throws: `SimulatorError` if two of them share a key id, which Apple never issues.
    package init(_ keys: [ProviderKey]) throws(SimulatorError) {
        var entries: [String: ProviderKey] = [:]
        for key in keys where entries.updateValue(key, forKey: key.keyID) != nil {
            throw SimulatorError(.keys, "The key id \(key.keyID) is listed twice.")
        }
        self.init(entries: entries, acceptsAnyKey: false)
    }

    /// Reads the registry from a keys file: a JSON array of `{teamId, keyId, publicKeyFile, topics?, environment?, revoked?}`.
    ///
    /// `publicKeyFile` is relative to the keys file.
    /// - Throws: `SimulatorError` for an unreadable file, an unknown field or an unusable key.
    package init(contentsOfFile path: String) throws(SimulatorError) {
        let file = URL(fileURLWithPath: path)
        let entries: [KeyFileEntry]
        do {
            entries = try JSONDecoder().decode([KeyFileEntry].self, from: Data(contentsOf: file))
        } catch {
            throw SimulatorError(.keys, "Cannot read the keys file \(path): \(error)")
        }
        var keys: [ProviderKey] = []
        for entry in entries {
            keys.append(try entry.key(relativeTo: file))
        }
        try self.init(keys)
    }

    /// The key with this id, if there is one.
    package func key(_ keyID: String) -> ProviderKey? {
        entries[keyID]
    }
}

/// One element of the keys file.
private struct KeyFileEntry: Decodable {
    var teamId: String
    var keyId: String
    var publicKeyFile: String
    var topics: [String]?
    var environment: String?
    var revoked: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case teamId, keyId, publicKeyFile, topics, environment, revoked
    }

    init(from decoder: any Decoder) throws {
        try refuseUnknownFields(in: decoder, known: CodingKeys.allCases.map(\.rawValue))
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        teamId = try fields.decode(String.self, forKey: .teamId)
        keyId = try fields.decode(String.self, forKey: .keyId)
        publicKeyFile = try fields.decode(String.self, forKey: .publicKeyFile)
        topics = try fields.decodeIfPresent([String].self, forKey: .topics)
        environment = try fields.decodeIfPresent(String.self, forKey: .environment)
        revoked = try fields.decodeIfPresent(Bool.self, forKey: .revoked)
    }

    func key(relativeTo file: URL) throws(SimulatorError) -> ProviderKey {
        let scope = try environment.map { (name) throws(SimulatorError) in
            guard let scope = APNsEnvironment(rawValue: name) else {
                throw SimulatorError(.keys, "The environment of key \(keyId) is neither production nor sandbox.")
            }
            return scope
        }
        let keyFile = URL(fileURLWithPath: publicKeyFile, relativeTo: file.deletingLastPathComponent())
        guard let pem = try? String(contentsOf: keyFile, encoding: .utf8) else {
            throw SimulatorError(.keys, "Cannot read the public key file \(keyFile.path) of key \(keyId).")
        }
        return try ProviderKey(
            teamID: teamId,
            keyID: keyId,
            publicKeyPEM: pem,
            topics: topics.map(Set.init),
            environment: scope,
            isRevoked: revoked ?? false
        )
    }
}
