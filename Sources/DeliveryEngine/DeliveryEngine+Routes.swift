import Logging
import Model
import NIOConcurrencyHelpers
import Routing

/// The rules by which slices are routed.
extension DeliveryEngine {
    /// Adds the rules of a slice to its work, with what they need. False: another node holds the slice.
    ///
    /// - Throws: `StoreError`.
    func route(_ work: inout SliceWork?, of lease: SliceLease) async throws(StoreError) -> Bool {
        guard var routed = work else { return true }
        switch try await store.routing(of: lease, by: node) {
        case .none: return true
        case .unruled(let callers):
            let table = RouteTable(RouteRules(), upstreams: [:])
            var slice = RoutedSlice(table: table)
            slice.called = try await called(by: callers, table, routed.targets, lease)
            routed.routing = .rules(slice)
            work = routed
            return true
        case .fenced: return false
        case .rules(let stored, let interrupted, let callers):
            guard let table = self.table(stored, tenant: lease.key.tenant, app: routed.app) else {
                routed.routing = .unread
                work = routed
                return true
            }
            // Rules for calls only.
            guard !table.rules.deliveries.isEmpty || !interrupted.isEmpty || !callers.isEmpty else { return true }
            var slice = RoutedSlice(table: table, interrupted: interrupted)
            let written = table.tags
            if !written.isEmpty { slice.tags = try await tags(written, of: routed.targets, lease) }
            if !callers.isEmpty { slice.called = try await called(by: callers, table, routed.targets, lease) }
            let names = table.deliveryUpstreams
            for name in names {
                let key = CredentialKey(tenant: lease.key.tenant, credential: name)
                slice.upstreams[name] = upstreams?.settings(of: key)
            }
            if !names.isEmpty, let media = routed.notification.content.media {
                routed.image = try await store.image(media, tenant: lease.key.tenant)
            }
            routed.routing = .rules(slice)
            work = routed
            return true
        }
    }

    /// The tags that the targets of a slice have, by place, in the spelling of the rules. They are stored in their folded form, and of identities: several
    /// variants of one identity are different targets.
    private func tags(
        _ written: Set<String>,
        of targets: [Int: TargetFacts],
        _ lease: SliceLease
    ) async throws(StoreError) -> [Int: Set<String>] {
        var spellings: [String: Set<String>] = [:]
        for name in written {
            if let tag = Tag(name) { spellings[tag.text, default: []].insert(name) }
        }
        let found = try await store.tags(
            Set(spellings.keys),
            of: targets.mapValues(\.identity),
            tenant: lease.key.tenant
        )
        return found.mapValues { names in
            names.reduce(into: Set<String>()) { all, name in all.formUnion(spellings[name] ?? []) }
        }
    }

    /// The targets whose users a call of the message has, whichever slice made it: by rules of another version, this slice may push to them itself. An upstream
    /// pushes to registrations of its dialect.
    private func called(
        by callers: [CredentialID],
        _ table: RouteTable,
        _ targets: [Int: TargetFacts],
        _ lease: SliceLease
    ) async throws(StoreError) -> [Int: Bool] {
        var users: [CalledUser] = []
        for id in callers {
            let key = CredentialKey(tenant: lease.key.tenant, credential: id)
            let vendor = table.facts(of: id)?.vendor ?? upstreams?.settings(of: key)?.vendor
            for (place, facts) in targets where vendor == nil || vendor == facts.vendor {
                for platform in [nil, facts.destination.platform] as [Platform?] {
                    let unit = UpstreamUnit(facts, platform: platform)
                    users.append(CalledUser(place: place, upstream: id, unit: unit))
                }
            }
        }
        return try await store.called(users, by: lease.key.message, tenant: lease.key.tenant)
    }

    /// The rules of a version; nil: this program does not know them.
    private func table(_ stored: StoredRules, tenant: TenantID, app: AppID) -> RouteTable? {
        let key = RouteCache.Key(tenant: tenant, app: app, version: stored.version)
        if let known = routes.table(key) { return known }
        guard let table = (try? RouteSet(stored))?.table else {
            logger.note(
                "The rules of an app cannot be read; its slices wait",
                [.tenant: "\(tenant)", .reason: "version \(stored.version), format \(stored.format)"]
            )
            return nil
        }
        routes.keep(table, key)
        return table
    }
}

/// The rules that were read last, by version. Versions never change, so that nothing has to be read again; an app that was added again under its name
/// continues the numbers.
final class RouteCache: Sendable {
    struct Key: Hashable {
        var tenant: TenantID
        var app: AppID
        var version: Int
    }

    /// 1,000 versions, about 10 KiB each. Beyond that all are forgotten and read again.
    private static let limit = 1000

    private let tables = NIOLockedValueBox<[Key: RouteTable]>([:])

    func table(_ key: Key) -> RouteTable? { tables.withLockedValue { $0[key] } }

    func keep(_ table: RouteTable, _ key: Key) {
        tables.withLockedValue { tables in
            if tables.count >= Self.limit { tables.removeAll() }
            tables[key] = table
        }
    }
}
