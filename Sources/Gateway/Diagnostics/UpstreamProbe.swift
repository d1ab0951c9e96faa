import EngineStore
import HTTPTypes
package import Model
import Outgoing
package import Secrets

/// Calls each upstream once, without effect there: `HEAD` of its address, without a credential.
package struct UpstreamProbe: Sendable {
    private let database: Database
    private let keyRing: KeyRing
    private let client: OutgoingClient

    /// A probe that may also call the private networks `allowed` (`upstream.allow`).
    package init(database: Database, keyRing: KeyRing, allowing allowed: [AddressRange]) {
        self.database = database
        self.keyRing = keyRing
        client = OutgoingClient(addressGuard: AddressGuard(allowing: allowed))
    }

    /// One check for each upstream, in the order of their ids. None is vital: the gateway's own deliveries need no upstream.
    package func checks() async -> [Readiness.Check] {
        let directory = PostgresDirectory(call: database.call, engine: database.engine)
        guard let stored = try? await directory.credentials() else { return [] }
        var checks: [Readiness.Check] = []
        for credential in stored where credential.upstream != nil {
            let (isFine, detail) = await probe(credential)
            let name = "upstream \(credential.key.tenant)/\(credential.key.credential)"
            checks.append(.init(name: name, isFine: isFine, isVital: false, detail: detail))
        }
        return checks
    }

    private func probe(_ stored: StoredCredential) async -> (isFine: Bool, detail: String) {
        guard let server = OutgoingServer(stored) else {
            return (false, "its address cannot be read; apply the provisioning file again")
        }
        guard (try? CredentialSecret.openUpstream(stored, with: keyRing)) != nil else {
            return (false, "its secrets cannot be opened with the master keys of this node")
        }
        do throws(OutgoingError) {
            let response = try await client.call(OutgoingRequest(method: .head, target: "/"), to: server)
            return (true, "\(server.url.host) answers over HTTP/\(response.version) with status \(response.status)")
        } catch {
            return (false, "\(server.url.host): \(Self.advice(error, server))")
        }
    }

    /// Advice for an operator about a call without an answer.
    static func advice(_ error: OutgoingError, _ server: OutgoingServer) -> String {
        switch error {
        case .forbidden where server.url.isSecure:
            "is not in the public internet; list its address in upstream.allow of every node"
        case .forbidden:
            "is called without TLS, which only addresses in upstream.allow of every node are; use https, or list it there"
        case .unresolved: "the name has no address; correct url, or the name server of this machine"
        case .unsent(.connection):
            "no connection: check address, port and firewall; for a certificate of a private authority set trustRootsFile"
        case .invalid: "the trust roots or the path of url cannot be read; correct them in the provisioning file"
        case .busy, .unsent, .indeterminate: "\(error)"
        }
    }
}

extension OutgoingServer {
    /// The service of a stored upstream; nil for a credential of another kind, or without an address that can be read.
    init?(_ stored: StoredCredential) {
        guard stored.upstream != nil, let url = stored.endpoint.flatMap({ OutgoingURL($0) }) else { return nil }
        self.init(credential: stored.key, url: url, trustRoots: stored.trustRoots.map { Array($0.utf8) })
    }
}
