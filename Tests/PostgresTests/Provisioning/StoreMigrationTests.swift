import Commands
import DatabaseSupport
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import MigrationStore
@testable import PostgresClient
@testable import Store

/// Migrations in the database: one change after the other, each with its history, its audit and its event, and the figures that their gates compare.
@Suite struct StoreMigrationTests {
    private static let planned: JSONObject = ["status": "planned", "step": 0]
    private static let proxied: JSONObject = ["calls": [["action": "proxy", "upstream": "old"]]]

    private func store(_ fixture: StoreFixture) -> PostgresMigrationStore {
        PostgresMigrationStore(engine: fixture.engine)
    }

    private func plan(_ id: String = "leave", app: AppID = "shop") -> NewMigration {
        NewMigration(id: id, app: app, upstream: "old", plan: ["migration": ["id": .string(id)]], state: Self.planned)
    }

    private func change(
        _ revision: Int64,
        _ status: String = "running",
        of id: String = "leave",
        isActive: Bool = true,
        isShown: Bool = true,
        next: Duration = .zero
    ) -> MigrationRevision {
        MigrationRevision(
            id: id,
            app: "shop",
            state: ["status": .string(status), "step": 1],
            revision: revision,
            isActive: isActive,
            entry: isShown ? .init(status: status, step: 1, note: "serve is in force") : nil,
            next: next
        )
    }

    private func put(_ fixture: StoreFixture, _ new: NewMigration) async throws -> PostgresMigrationStore.Put {
        try await store(fixture).put(new, in: fixture.acme, by: .key("ops"))
    }

    private func write(_ fixture: StoreFixture, _ next: MigrationRevision) async throws -> Bool {
        try await store(fixture).change(next, in: fixture.acme, by: .gateway)
    }

    @Test func aPlanIsReplacedUntilItHasBegun() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await put(fixture, plan()) == .stored)
        var other = plan()
        other.plan = ["migration": ["id": "leave", "by": "user"]]
        #expect(try await put(fixture, other) == .stored)
        let stored = try #require(try await store(fixture).migration("leave", in: fixture.acme))
        #expect(stored.plan == other.plan && stored.revision == 1 && !stored.isActive && stored.app == "shop")
        #expect(try await put(fixture, plan(app: "none")) == .missing)
        #expect(try await write(fixture, change(2)))
        #expect(try await put(fixture, plan()) == .taken)
        #expect(try await store(fixture).migrations(of: "shop", in: fixture.acme, after: nil, limit: 10).count == 1)
        #expect(try await store(fixture).migrations(of: "news", in: fixture.acme, after: nil, limit: 10).isEmpty)
        #expect(try await store(fixture).migrations(of: nil, in: fixture.acme, after: "leave", limit: 10).isEmpty)
        #expect(try await store(fixture).migration("leave", in: fixture.other) == nil)
    }

    // A change states the revision that it has seen.
    @Test func aChangeFollowsTheRevisionThatItHasSeen() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await put(fixture, plan())
        #expect(try await write(fixture, change(2)) == false)
        #expect(try await write(fixture, change(1)))
        #expect(try await write(fixture, change(1, "paused")) == false)
        // Counts of failures leave no trace.
        #expect(try await write(fixture, change(2, isShown: false)))
        #expect(try await write(fixture, change(3, "halted")))
        let history = try await store(fixture).history(of: "leave", in: fixture.acme)
        #expect(history.map(\.revision) == [3, 1, 0] && history.map(\.status) == ["halted", "running", "planned"])
        #expect(history.map(\.actor) == ["gateway", "gateway", "key:ops"])
        let audit = try await fixture.audit.newest(3, in: fixture.acme)
        #expect(audit.map(\.subject) == Array(repeating: "migration leave", count: 3))
        let events = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 10).events
        #expect(events.map(\.kind) == Array(repeating: "migration_changed", count: 3))
        #expect(events.last?.data?["status"] == "halted" && events.last?.data?["migration"] == "leave")
    }

    @Test func oneMigrationOfAnAppIsActive() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await put(fixture, plan())
        _ = try await put(fixture, plan("again"))
        #expect(try await write(fixture, change(1)))
        #expect(try await PostgresRouteStore(engine: fixture.engine).migration(of: "shop", in: fixture.acme) == "leave")
        let error = await #expect(throws: StoreError.self) { _ = try await write(fixture, change(1, of: "again")) }
        #expect(error?.code == .conflict)
        #expect(try await write(fixture, change(2, "rolledBack", isActive: false)))
        #expect(try await write(fixture, change(1, of: "again")))
    }

    // MARK: Rules

    private func migrate(
        _ fixture: StoreFixture,
        after version: Int?,
        _ next: MigrationRevision
    ) async throws -> PostgresRouteStore.Migrated {
        try await PostgresRouteStore(engine: fixture.engine).migrate(
            RouteDraft(app: "shop", after: version, format: 1, base: [:], overlay: Self.proxied, upstreams: [:]),
            checkedWith: [],
            with: PostgresMigrationStore.companion(next, in: fixture.acme, by: .gateway),
            in: fixture.acme,
            by: .gateway
        )
    }

    @Test func rulesAndStateAreWrittenTogetherOrNotAtAll() async throws {
        let fixture = try await StoreFixture.make()
        let routes = PostgresRouteStore(engine: fixture.engine)
        _ = try await put(fixture, plan())
        // The state has changed meanwhile: no version is left behind.
        #expect(try await migrate(fixture, after: nil, change(2)) == .outdated)
        #expect(try await routes.routes(of: "shop", in: fixture.acme)?.current == nil)
        // So have the rules.
        #expect(try await migrate(fixture, after: 7, change(1)) == .otherRules)
        #expect(try await store(fixture).migration("leave", in: fixture.acme)?.revision == 0)
        #expect(try await migrate(fixture, after: nil, change(1)) == .stored(version: 1))
        let current = try #require(try await routes.routes(of: "shop", in: fixture.acme)?.current)
        #expect(current.origin == .migration && current.overlay == Self.proxied && current.actor == "gateway")
        #expect(try await store(fixture).history(of: "leave", in: fixture.acme).first?.routeVersion == 1)
        let kinds = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 10).events.map(\.kind)
        #expect(kinds == ["migration_changed", "routes_changed", "migration_changed"])
    }

    @Test func aMigrationThatRunsHasTheOverlay() async throws {
        let fixture = try await StoreFixture.make()
        let routes = PostgresRouteStore(engine: fixture.engine)
        _ = try await put(fixture, plan())
        _ = try await migrate(fixture, after: nil, change(1))
        let draft = RouteDraft(app: "shop", after: 1, format: 1, base: [:], overlay: [:], upstreams: [:])
        #expect(try await routes.put(draft, checkedWith: [], in: fixture.acme, by: .key("ops")) == nil)
        #expect(try await routes.migration(of: "shop", in: fixture.acme) == "leave")
        #expect(try await write(fixture, change(2, "rolledBack", isActive: false)))
        #expect(try await routes.put(draft, checkedWith: [], in: fixture.acme, by: .key("ops")) == 2)
    }

    // MARK: Evaluation

    @Test func oneNodeEvaluatesAtATime() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        func claim(_ node: NodeID) async throws -> Int64? {
            try await store.claim("leave", in: fixture.acme, by: node, for: .seconds(60))?.migration.revision
        }
        _ = try await put(fixture, plan())
        #expect(try await claim("a") == nil, "it has not begun")
        #expect(try await write(fixture, change(1)))
        #expect(try await store.due().contains { $0.tenant == fixture.acme && $0.id == "leave" })
        #expect(try await claim("a") == 1)
        #expect(try await claim("b") == nil)
        // One that another node has cannot be given back.
        try await store.release("leave", in: fixture.acme, by: "b", next: .zero)
        #expect(try await claim("b") == nil)
        try await store.release("leave", in: fixture.acme, by: "a", next: .zero)
        #expect(try await claim("b") == 1)
        // A change ends the lease and states the time of the next evaluation.
        #expect(try await write(fixture, change(2, isShown: false, next: .seconds(60))))
        try await store.release("leave", in: fixture.acme, by: "b", next: .zero)
        #expect(try await claim("a") == nil)
    }

    // MARK: Figures

    @Test func countsOfIntervalsThatBeganLaterAreAdded() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        let start = Timestamp(milliseconds: 1_790_000_000_000)
        func count(_ at: Timestamp, _ samples: Int, _ differences: Int, _ metric: ParityMetric = .observed)
            -> FigureCount
        {
            FigureCount(app: "shop", at: at, figure: ParityFigure(metric, samples: samples, differences: differences))
        }
        try await store.add([count(start, 10, 1), count(start + .seconds(30), 5, 0)], in: fixture.acme)
        try await store.add([count(start, 1, 1), count(start, 3, 1, .unknown)], in: fixture.acme)
        let next = start + .milliseconds(1)
        let all = try await store.figures(of: "shop", in: fixture.acme, since: start, recent: next)
        #expect(
            Set(all) == [
                FigureSums(
                    whole: ParityFigure(.observed, samples: 16, differences: 2),
                    recent: ParityFigure(.observed, samples: 5, differences: 0)
                ),
                FigureSums(
                    whole: ParityFigure(.unknown, samples: 3, differences: 1),
                    recent: ParityFigure(.unknown, samples: 0, differences: 0)
                ),
            ]
        )
        let later = try await store.figures(of: "shop", in: fixture.acme, since: next, recent: next)
        #expect(later.map(\.whole) == [ParityFigure(.observed, samples: 5, differences: 0)])
        #expect(later.map(\.recent) == later.map(\.whole))
        #expect(try await store.figures(of: "shop", in: fixture.other, since: start, recent: start).isEmpty)
    }

    @Test func whatIsNotThereIsNoFigure() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        let start = Timestamp(milliseconds: 0)
        #expect(try await store.waitingCalls(for: "old", in: fixture.acme) == WaitingCalls())
        #expect(try await store.imports(fixture.scope, in: fixture.acme, since: start).imports == 0)
        #expect(try await store.figures(of: "shop", in: fixture.acme, since: start, recent: start).isEmpty)
    }

    @Test func theEndOfAnImportHasItsDecisionsOfUsers() async throws {
        let fixture = try await StoreFixture.make()
        func end(_ optOuts: Int, _ consents: Int, of app: AppID = "shop") async throws {
            let end = ImportRules.end(
                ImportCounts(created: 9),
                rejected: 0,
                optOuts: optOuts,
                consents: consents,
                AppScope(app: app, vendor: fixture.scope.vendor),
                by: .command(user: 0)
            )
            try await fixture.commands.run(end, in: fixture.acme)
        }
        func found() async throws -> [Int] {
            let start = Timestamp(milliseconds: 0)
            let found = try await store(fixture).imports(fixture.scope, in: fixture.acme, since: start)
            return [found.imports, found.optOuts, found.consents]
        }
        try await end(0, 0)
        try await end(7, 7, of: "other")
        #expect(try await found() == [1, 0, 0])
        try await end(2, 6)
        try await end(1, 4)
        #expect(try await found() == [3, 3, 10])
        // An earlier version wrote the opt-outs alone.
        let row = AuditRecord(.imported, AuditRecord.devices(of: fixture.scope), data: ["optOuts": 5])
        try await fixture.ask(WriteAudit([row], by: .command(user: 0)))
        #expect(try await found() == [4, 8, 15])
    }

    // A device without a token of Apple stays with the vendor.
    @Test func devicesWithoutADirectTransportAreCounted() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await store(fixture).withoutTransport(fixture.scope, in: fixture.acme) == 0)
        try await fixture.register("with", token: String(repeating: "ab", count: 32))
        #expect(try await store(fixture).withoutTransport(fixture.scope, in: fixture.acme) == 0)
        let gone = "UPDATE gateway.device SET token_state = 'invalid' WHERE tenant_id = '\(fixture.acme)'"
        _ = try await fixture.database.admin().query(gone)
        #expect(try await store(fixture).withoutTransport(fixture.scope, in: fixture.acme) == 1)
        let old =
            "UPDATE gateway.identity SET registered_at = now() - interval '31 days' WHERE tenant_id = '\(fixture.acme)'"
        let unseen = "UPDATE gateway.device SET seen_at = NULL WHERE tenant_id = '\(fixture.acme)'"
        for sql in [old, unseen] { _ = try await fixture.database.admin().query(sql) }
        #expect(try await store(fixture).withoutTransport(fixture.scope, in: fixture.acme) == 0)
    }
}
