package import DeliveryEngine
package import Model
import PostgresClient
import Store

extension PostgresDeliveryStore {
    package func load(_ lease: SliceLease) async throws(StoreError) -> SliceWork? {
        let open = lease.targets.indices.filter { !lease.isDone($0) }
        let places: [PostgresValue] = [.ints(open), .ids(open.map { lease.targets[$0] })]
        let tenant = PostgresValue.id(lease.key.tenant)
        let message = PostgresValue.id(lease.key.message)
        var statements = [
            DeliverySQL.message(tenant, message),
            DeliverySQL.settings(tenant, message),
            open.count == 1
                ? DeliverySQL.target(tenant, .int(open[0]), .id(lease.targets[open[0]]))
                : DeliverySQL.targets.with([tenant] + places),
        ]
        // A list can contain one device twice. A message's first slice with one target is a list of one target: two identities of one device are due
        // together, so they are in one slice, or in two consecutive slices, the first of which is full.
        let isAlone = lease.key.number == 0 && lease.targets.count == 1
        let isList = lease.addresses.contains { $0 != nil }
        if !isAlone, isList {
            statements.append(DeliverySQL.duplicates.with([tenant] + places + [message, .int32(lease.dueDay)]))
        }
        return try await asStore { () throws(PostgresError) in
            let results = try await engine.run(statements, tenant: nil)
            guard let row = try results.result(0).first else { return nil }
            var targets = try Self.targets(try results.result(2))
            let document = try row.object("content")
            let content = ContentCoding.decode(document)
            if let step = content.badgeStep { try await takeBadges(step, lease, open, &targets) }
            if content.variants != nil { try await findVariants(lease, open, &targets) }
            let origin: Vendor = try row.id("vendor")
            if content.isTemplate { try await fillVariables(lease, origin, open, &targets) }
            if let activity = content.activity { try await findActivityTokens(activity, lease, &targets) }
            if content.consent == .optedIn { try await findOptedIn(lease, origin, open, &targets) }
            var duplicates: Set<Int> = results.count > 3 ? try Self.places(try results.result(3)) : []
            // An audience selects a device again if the identity by which it was selected leaves before the end of the expansion.
            if !isAlone, !isList, try row.bool("shares_devices") { duplicates = try await findRepeated(lease, open) }
            let timing = TimingCoding.read(try row.object("defaults"))
            var work = SliceWork(
                app: try row.id("app_id"),
                notification: try NotificationRow.read(row),
                state: try row.word("state"),
                lane: try row.lane("lane"),
                fallback: try row.optionalDocument("fallback"),
                targets: targets,
                routes: PlatformRouteCoding.decode(try row.object("platforms")),
                settings: try SettingsRow.read(try results.result(1), tenant: lease.key.tenant),
                duplicates: duplicates,
                timing: timing,
                localDue: try row.optionalInt("due_local").map { LocalTime(seconds: Int64($0)) },
                capped: try await capped(lease, app: try row.id("app_id"), targets, try row.lane("lane"), timing.cap)
            )
            work.trace = ContentCoding.trace(in: document)
            work.isRouted = try row.bool("is_routed")
            work.isDuplicate = try row.bool("is_duplicate")
            return work
        }
    }

    /// Finds the targets of an audience whose devices were notified before, in a separate query that runs only for apps that share devices.
    private func findRepeated(_ lease: SliceLease, _ open: [Int]) async throws(PostgresError) -> Set<Int> {
        let statement = DeliverySQL.repeated(
            .id(lease.key.tenant),
            .ints(open),
            .ids(open.map { lease.targets[$0] }),
            .id(lease.key.message),
            .int32(lease.dueDay)
        )
        return try Self.places(try await engine.run(statement, tenant: nil))
    }

    /// Counts the message in the badges of its holders. After a crash, a repeated call returns the same counts. Runs only for messages that count.
    private func takeBadges(
        _ step: Int,
        _ lease: SliceLease,
        _ open: [Int],
        _ targets: inout [Int: TargetFacts]
    ) async throws(PostgresError) {
        let statement = DeliverySQL.takeBadges(
            .id(lease.key.tenant),
            .id(lease.key.message),
            .int32(Int32(clamping: step)),
            .ints(open),
            .ids(open.map { lease.targets[$0] })
        )
        for row in try await engine.run(statement, tenant: nil) {
            targets[try row.int("place")]?.badge = try row.int("badge")
        }
    }

    /// Loads the template variables of each user, in a separate query.
    private func fillVariables(
        _ lease: SliceLease,
        _ origin: Vendor,
        _ open: [Int],
        _ targets: inout [Int: TargetFacts]
    ) async throws(PostgresError) {
        let statement = DeliverySQL.variables(
            .id(lease.key.tenant),
            .id(lease.key.message),
            .ints(open),
            .ids(open.map { lease.targets[$0] }),
            .string(origin == .native ? nil : origin.rawValue)
        )
        for row in try await engine.run(statement, tenant: nil) {
            let place = try row.int("place")
            targets[place]?.variables = try row.object("variables")
            targets[place]?.person.attributes = try row.object("attributes")
        }
    }

    /// Replaces the devices' own tokens by those of a Live Activity, in a separate query. A device that reported none gets nothing.
    private func findActivityTokens(
        _ activity: ActivityReference,
        _ lease: SliceLease,
        _ targets: inout [Int: TargetFacts]
    ) async throws(PostgresError) {
        let known = targets.compactMap { place, facts in facts.device.map { (place, $0) } }
        for place in targets.keys {
            targets[place]?.destination.token = nil
            targets[place]?.destination.tokenState = .none
        }
        let statement = DeliverySQL.activityTokens(
            .id(lease.key.tenant),
            .ints(known.map(\.0)),
            .ids(known.map(\.1)),
            .text(activity.kind.rawValue),
            .text(activity.name)
        )
        for row in try await engine.run(statement, tenant: nil) {
            let place = try row.int("place")
            targets[place]?.destination.token = DeviceToken(stored: try row.text("token"))
            targets[place]?.destination.tokenState = .active
            targets[place]?.destination.tokenRegisteredAt = try row.time("registered_at")
        }
    }

    /// Finds the targets whose users opted in to pushes, in a separate query that runs only for messages that require it.
    private func findOptedIn(
        _ lease: SliceLease,
        _ origin: Vendor,
        _ open: [Int],
        _ targets: inout [Int: TargetFacts]
    ) async throws(PostgresError) {
        let known = open.compactMap { place in targets[place].map { (place, $0.identity) } }
        let statement = DeliverySQL.optedIn(
            .id(lease.key.tenant),
            .ints(known.map(\.0)),
            .ids(known.map(\.1)),
            .string(origin == .native ? nil : origin.rawValue)
        )
        for place in try Self.places(try await engine.run(statement, tenant: nil)) { targets[place]?.isOptedIn = true }
    }

    /// Finds the variants of the targets, in a separate query. A variant that is not registered any longer is not a target.
    private func findVariants(_ lease: SliceLease, _ open: [Int], _ targets: inout [Int: TargetFacts])
        async throws(PostgresError)
    {
        let statement = DeliverySQL.variants(
            .id(lease.key.tenant),
            .ints(open),
            .ids(open.map { lease.targets[$0] })
        )
        for row in try await engine.run(statement, tenant: nil) {
            let place = try row.int("place")
            guard lease.targets.indices.contains(place) else { continue }
            var facts = try TargetRow.read(row)
            facts.target = lease.targets[place]
            facts.variant = try row.text("variant")
            facts.variables = try row.object("attributes")
            targets[place] = facts
        }
    }

    /// Indexes of targets whose device has reached the frequency cap, found by a separate query that runs only for apps with a cap.
    private func capped(
        _ lease: SliceLease,
        app: AppID,
        _ targets: [Int: TargetFacts],
        _ lane: Lane,
        _ cap: AppTiming.FrequencyCap?
    ) async throws(PostgresError) -> Set<Int> {
        let known = targets.compactMap { place, facts in facts.device.map { (place, $0) } }
        guard let cap, AppTiming.FrequencyCap.lanes.contains(lane), !known.isEmpty else { return [] }
        let statement = DeliverySQL.capped(
            .id(lease.key.tenant),
            .ints(known.map(\.0)),
            .ids(known.map(\.1)),
            .id(app),
            .int32(cap.firstDay(lease.dueDay)),
            .interval(cap.period),
            .int(cap.count)
        )
        return try Self.places(try await engine.run(statement, tenant: nil))
    }

    private static func targets(_ result: ResultSet) throws(PostgresError) -> [Int: TargetFacts] {
        var targets: [Int: TargetFacts] = [:]
        for row in result { targets[try row.int("place")] = try TargetRow.read(row) }
        return targets
    }

    private static func places(_ result: ResultSet) throws(PostgresError) -> Set<Int> {
        Set(try result.rows { (row) throws(PostgresError) in try row.int("place") })
    }
}
