package import EngineStore
import Foundation
import Model

/// Tells which master key sealed a stored secret, and seals it again with the present key. Pure.
package struct Resealing: Sendable {
    private let ring: KeyRing

    package init(_ ring: KeyRing) { self.ring = ring }

    /// The ids of the keys that sealed the secrets of a row; nil for a secret that no key of the ring opens.
    package func keys(of entry: SealedEntry, in table: SealedTable) -> [String?] {
        secrets(of: entry, in: table).map { ring.opened($0.sealed, context: $0.context)?.key }
    }

    /// The bytes to store instead; nil when every secret that can be opened is sealed with the present key.
    ///
    /// - Throws: `MasterKeyError.sealing`.
    package func resealed(_ entry: SealedEntry, in table: SealedTable) throws(MasterKeyError) -> [UInt8]? {
        var replacements: [String: [UInt8]] = [:]
        for secret in secrets(of: entry, in: table) {
            guard let opened = ring.opened(secret.sealed, context: secret.context), opened.key != ring.current.id
            else { continue }
            // The secrets of bindings are compared in sealed form when a provisioning file is applied.
            replacements[secret.name] =
                table == .binding
                ? try ring.sealSame(opened.secret, context: secret.context)
                : try ring.seal(opened.secret, context: secret.context)
        }
        guard !replacements.isEmpty else { return nil }
        return table == .binding ? settings(of: entry, with: replacements) : replacements[""]
    }

    private struct Sealed {
        /// The name within a binding's settings; empty elsewhere.
        var name = ""
        var context: String
        var sealed: [UInt8]
    }

    private func secrets(of entry: SealedEntry, in table: SealedTable) -> [Sealed] {
        let parts = entry.parts
        switch table {
        case .credential:
            guard parts.count == 2 else { return [] }
            let key = CredentialKey(tenant: TenantID(parts[0]), credential: CredentialID(parts[1]))
            return [Sealed(context: SealContext.credential(key), sealed: entry.stored)]
        case .webhook, .formerWebhook:
            guard parts.count == 2, let id = UUID(uuidString: parts[1]) else { return [] }
            let context = SealContext.webhook(WebhookID(rawValue: id), TenantID(parts[0]))
            return [Sealed(context: context, sealed: entry.stored)]
        case .providerToken:
            guard parts.count == 3 else { return [] }
            return [
                Sealed(context: SealContext.providerToken(team: parts[0], key: parts[1]), sealed: entry.stored)
            ]
        case .binding: return bindingSecrets(of: entry)
        }
    }

    private func bindingSecrets(of entry: SealedEntry) -> [Sealed] {
        let parts = entry.parts
        guard parts.count == 6, let sealed = settings(of: entry)?[BindingSecrets.key]?.object else { return [] }
        return sealed.pairs.compactMap { name, value in
            guard let bytes = value.string.flatMap({ Data(base64Encoded: $0) }) else { return nil }
            let context = SealContext.binding(name, AppID(parts[5]), TenantID(parts[4]), Vendor(parts[0]))
            return Sealed(name: name, context: context, sealed: Array(bytes))
        }
    }

    private func settings(of entry: SealedEntry) -> JSONObject? { (try? JSONParser.parse(entry.stored))?.object }

    private func settings(of entry: SealedEntry, with secrets: [String: [UInt8]]) -> [UInt8]? {
        guard var settings = settings(of: entry), var sealed = settings[BindingSecrets.key]?.object else { return nil }
        for (name, bytes) in secrets { sealed[name] = .string(Data(bytes).base64EncodedString()) }
        settings[BindingSecrets.key] = .object(sealed)
        return JSONWriter.bytes(.object(settings))
    }
}
