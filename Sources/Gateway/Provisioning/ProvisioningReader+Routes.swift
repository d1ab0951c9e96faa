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
        guard case .upstream(let settings) = credential.secret, let vendor = vendors.upstreams[settings.vendor] else {
            return .push
        }
        return .upstream(UpstreamFacts(vendor, settings))
    }

    /// - Throws: `ProvisioningProblem` that names the rule and says what is wrong with it.
    func routes(
        _ fields: inout StrictFields,
        credentials: [CredentialID: CredentialRole]
    ) throws(ProvisioningProblem) -> RouteRules {
        let path = fields.path.isEmpty ? "routes" : "\(fields.path).routes"
        let rules = try RouteReader.read(fields.value("routes"), path: path)
        var upstreams: [CredentialID: UpstreamFacts] = [:]
        for (id, role) in credentials {
            if case .upstream(let facts) = role { upstreams[id] = facts }
        }
        let check = RouteCheck(rules, upstreams: upstreams, dialects: Set(vendors.byVendor.keys))
        if let fault = check.faults.first {
            throw ProvisioningProblem(path: "\(path).\(fault.place)", problem: fault.description)
        }
        if let (place, what) = RouteExecution.unsupported(in: rules) {
            throw ProvisioningProblem(
                path: "\(path).\(place)",
                problem: "\(what) is understood, but this version does not carry it out yet; remove the rule"
            )
        }
        return rules
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
