import Adapters
import Foundation
package import Model
package import Routing

/// The routes of one app of a provisioning file, read without the file's secrets and without a database: to try rules before they are applied.
package struct RouteFile: Sendable {
    package let upstreams: [CredentialID: UpstreamFacts]
    private let ruleSet: RouteSet
    private let dialects: Set<Vendor>

    /// Reads a provisioning file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - tenant: nil: the only one of the file.
    ///   - app: nil: the only one of the tenant.
    ///   - vendors: the vendors of this gateway.
    /// - Throws: `ProvisioningProblem`.
    package init(
        at path: String,
        tenant: String?,
        app: String?,
        vendors: VendorCatalog = .product
    ) throws(ProvisioningProblem) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ProvisioningProblem(path: "", problem: "cannot read \(path)")
        }
        try self.init(String(decoding: data, as: UTF8.self), tenant: tenant, app: app, vendors: vendors)
    }

    init(
        _ yaml: String,
        tenant: String?,
        app: String?,
        vendors: VendorCatalog = .product
    ) throws(ProvisioningProblem) {
        var root = try StrictFields(YAMLTree.parse(yaml), path: "")
        let (tenantPath, tenant) = try Self.one(try root.list("tenants"), tenant, "tenants", "--tenant")
        var fields = try StrictFields(tenant, path: tenantPath)
        var upstreams: [CredentialID: UpstreamFacts] = [:]
        for (path, value) in try fields.list("credentials") {
            guard let (id, facts) = try Self.upstream(value, path, vendors) else { continue }
            upstreams[id] = facts
        }
        let (appPath, app) = try Self.one(try fields.list("apps"), app, "\(tenantPath).apps", "--app")
        let rules = try RouteReader.read(app["routes"], path: "\(appPath).routes")
        ruleSet = RouteSet(base: rules, upstreams: upstreams)
        self.upstreams = upstreams
        dialects = Set(vendors.byVendor.keys)
    }

    package var rules: RouteRules { ruleSet.rules }
    /// Every fault of the rules.
    package var faults: [RouteFault] { ruleSet.faults(dialects: dialects) }
    /// The first thing that this version does not carry out.
    package var unsupported: (place: String, what: String)? { RouteExecution.unsupported(in: ruleSet.rules) }

    /// The decisions about a call and its targets, with every fault of the rules.
    package func answer(_ trial: RouteTrial) -> RouteTrialAnswer {
        RouteTrialAnswer(ruleSet, trial, dialects: dialects)
    }

    private static func one(
        _ list: [(path: String, value: JSON)],
        _ name: String?,
        _ path: String,
        _ option: String
    ) throws(ProvisioningProblem) -> (path: String, value: JSON) {
        if let name {
            guard let found = list.first(where: { $0.value["id"]?.lenientString == name }) else {
                throw ProvisioningProblem(path: path, problem: "has no '\(name)'")
            }
            return found
        }
        guard list.count == 1 else {
            throw ProvisioningProblem(path: path, problem: "has \(list.count) entries; name one with \(option)")
        }
        return list[0]
    }

    /// Nil for a credential of another kind.
    private static func upstream(
        _ json: JSON,
        _ path: String,
        _ vendors: VendorCatalog
    ) throws(ProvisioningProblem) -> (CredentialID, UpstreamFacts)? {
        var fields = try StrictFields(json, path: path)
        guard let name = UpstreamKind.vendor(of: try fields.text("kind")), let vendor = vendors.upstreams[name] else {
            return nil
        }
        var settings = UpstreamSettings(vendor: name)
        for field in vendor.upstreamForm.fields {
            if case .flag(let standard) = field.kind {
                settings.values[field.name] = .bool(try fields.flag(field.name) ?? standard)
            }
        }
        return (CredentialID(try fields.name("id")), UpstreamFacts(vendor, settings))
    }
}
