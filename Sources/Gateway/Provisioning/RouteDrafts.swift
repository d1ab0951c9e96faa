import Adapters
import EngineStore
import Model
import Routing
import Secrets
import Store

/// The new versions of rules that a tenant of a provisioning file needs: the file changes the base of each app, and the overlay stays in front of it.
struct RouteDrafts: Sendable {
    private(set) var drafts: [RouteDraft] = []
    /// The stored upstreams, not of the file, whose facts the check has used.
    private(set) var checked: [CheckedUpstream] = []
    /// Consequences that the author of the file may not expect.
    private(set) var notes: [String] = []

    /// - Parameters:
    ///   - tenant: the tenant of the file.
    ///   - upstreams: the facts about the upstreams of the file.
    ///   - others: the stored upstreams that the file does not list, and that stay.
    ///   - stored: the versions in force.
    ///   - dialects: the dialects of this gateway.
    /// - Throws: `ProvisioningProblem` with the place in the file.
    init(
        _ tenant: ProvisioningFile.Tenant,
        upstreams: [CredentialID: UpstreamFacts],
        others: StoredUpstreams,
        stored: [StoredRoutes],
        dialects: Set<Vendor>
    ) throws(ProvisioningProblem) {
        let versions = Dictionary(stored.map { ($0.app, $0) }, uniquingKeysWith: { first, _ in first })
        let known = others.facts.merging(upstreams) { $1 }
        for app in tenant.apps {
            let version = versions[app.id]
            guard version != nil || !app.routes.isEmpty else { continue }
            let now = try Self.read(version, app)
            let next = RouteSet(base: app.routes, overlay: now.overlay, upstreams: known)
            if let version, !now.overlay.isEmpty {
                notes.append(
                    "the overlay of version \(version.version) is in front of the routes of the app '\(app.id)' of '\(tenant.id)' "
                        + "('push-gateway routes show' prints both)"
                )
            }
            guard next != now else { continue }
            try Self.check(next, app, dialects)
            drafts.append(RouteDraft(app.id, next, after: version?.version))
            checked += others.checked(for: next).filter { upstreams[$0.credential] == nil }
        }
    }

    private static func read(
        _ version: StoredRoutes?,
        _ app: ProvisioningFile.App
    ) throws(ProvisioningProblem) -> RouteSet {
        guard let version else { return RouteSet() }
        do throws(ProvisioningProblem) { return try RouteSet(version) } catch {
            throw ProvisioningProblem(path: app.routesPath, problem: "the stored \(error.path) \(error.problem)")
        }
    }

    private static func check(
        _ set: RouteSet,
        _ app: ProvisioningFile.App,
        _ dialects: Set<Vendor>
    ) throws(ProvisioningProblem) {
        guard let (place, problem) = set.problem(dialects: dialects) else { return }
        let (isOverlay, part) = set.part(of: place)
        guard isOverlay else { throw ProvisioningProblem(path: "\(app.routesPath).\(part)", problem: problem) }
        throw ProvisioningProblem(
            path: app.routesPath,
            problem:
                "the overlay in front of it cannot stay: \(part): \(problem); change it with 'push-gateway routes set'"
        )
    }
}
