import Adapters
import EngineStore
import Model
import Routing
import Secrets

/// The use of a credential of a file.
enum CredentialRole: Sendable {
    /// The push service.
    case push
    case upstream(UpstreamFacts)
}

// An app's `routes`.
extension ProvisioningReader {
    /// The roles of the credentials of a tenant.
    func roles(of credentials: [ProvisioningFile.Credential]) -> [CredentialID: CredentialRole] {
        Dictionary(credentials.map { ($0.id, role(of: $0)) }, uniquingKeysWith: { first, _ in first })
    }

    private func role(of credential: ProvisioningFile.Credential) -> CredentialRole {
        Self.facts(about: credential, vendors).map { .upstream($0) } ?? .push
    }

    /// The facts about the upstreams among the credentials of a tenant.
    static func upstreams(
        of credentials: [ProvisioningFile.Credential],
        _ vendors: VendorCatalog
    ) -> [CredentialID: UpstreamFacts] {
        var upstreams: [CredentialID: UpstreamFacts] = [:]
        for credential in credentials { upstreams[credential.id] = facts(about: credential, vendors) }
        return upstreams
    }

    /// Nil: it is not an upstream.
    static func facts(
        about credential: ProvisioningFile.Credential,
        _ vendors: VendorCatalog
    ) -> UpstreamFacts? {
        guard case .upstream(let settings) = credential.secret, let vendor = vendors.upstreams[settings.vendor] else {
            return nil
        }
        return UpstreamFacts(vendor, settings)
    }

    /// - Throws: `ProvisioningProblem` that names the rule and says what is wrong with it.
    func routes(
        _ fields: inout StrictFields,
        credentials: [CredentialID: CredentialRole]
    ) throws(ProvisioningProblem) -> RouteRules {
        let path = Self.routesPath(fields.path)
        let rules = try RouteReader.read(fields.value("routes"), path: path)
        var upstreams: [CredentialID: UpstreamFacts] = [:]
        for (id, role) in credentials {
            if case .upstream(let facts) = role { upstreams[id] = facts }
        }
        // The base must also hold alone: the overlay in front of it may be taken away at any time.
        let set = RouteSet(base: rules, upstreams: upstreams)
        if let (place, problem) = set.problem(dialects: Set(vendors.byVendor.keys)) {
            throw ProvisioningProblem(path: "\(path).\(place)", problem: problem)
        }
        return rules
    }

    /// Where the routes of an app are, by the place of the app.
    static func routesPath(_ app: String) -> String { app.isEmpty ? "routes" : "\(app).routes" }
}

extension RouteSet {
    /// Why the rules that apply must not be stored, with the place in them; nil: they may be.
    func problem(dialects: Set<Vendor>) -> (place: String, problem: String)? {
        if let fault = faults(dialects: dialects).first { return (fault.place, fault.description) }
        return RouteExecution.unsupported(in: rules).map { place, what in
            (place, "\(what) is understood, but this version does not carry it out yet; remove the rule")
        }
    }
}

/// The upstreams of a tenant that are stored.
struct StoredUpstreams: Sendable {
    private(set) var facts: [CredentialID: UpstreamFacts] = [:]
    private(set) var versions: [CredentialID: Int64] = [:]

    /// - Throws: `MasterKeyError` when the node does not have the key that sealed one of them.
    init(
        _ stored: [StoredCredential],
        _ vendors: VendorCatalog,
        _ keyRing: KeyRing
    ) throws(MasterKeyError) {
        for credential in stored {
            guard let settings = try CredentialSecret.openUpstream(credential, with: keyRing),
                let vendor = vendors.upstreams[settings.vendor]
            else { continue }
            facts[credential.key.credential] = UpstreamFacts(vendor, settings)
            versions[credential.key.credential] = credential.version
        }
    }

    /// Those that a set of rules names, for the check that they have not changed when it is stored.
    func checked(for set: RouteSet) -> [CheckedUpstream] {
        set.upstreams.keys.compactMap { id in versions[id].map { CheckedUpstream(id, version: $0) } }
            .sorted { $0.credential.rawValue < $1.credential.rawValue }
    }
}

extension UpstreamFacts {
    init(_ vendor: any UpstreamVendor, _ settings: UpstreamSettings) {
        self.init(
            vendor: vendor.vendor,
            addressesUsers: vendor.addressesUsers(settings),
            splitsPlatforms: vendor.splitsPlatforms
        )
    }
}
