import DatabaseSupport
import Foundation
import Model
import Testing

@testable import DatabaseSchema
@testable import PostgresClient
@testable import Store

/// Operations in one transaction, each with an answer of its own type.
@Suite struct StoreRequestTests {
    private let groups = AppScope(app: "shop", vendor: .native)

    @Test func severalOperationsAnswerInTheirOrderAndSeeEachOther() async throws {
        let fixture = try await StoreFixture.make()
        let (app, isNew, found) = try await fixture.commands.run(
            FindApp(fixture.scope),
            PutGroup(groups, "g"),
            FindGroups(groups, ["g"]),
            in: fixture.acme
        )
        #expect(app?.identityCount == 0 && isNew == true && found.map(\.name) == ["g"])
    }

    @Test func requestsAreMappedAddedToAndJoined() async throws {
        let fixture = try await StoreFixture.make()
        let first = StoreRequest(PutGroup(groups, "a")) { "a \($0 == true)" }
        let second = StoreRequest(PutGroup(groups, "b"), PutGroup(groups, "b")) { "b \($0 == true) \($1 == true)" }
        let third = StoreRequest.settled("nothing").adding(FindGroups(groups, ["a", "b"])) { $0 += " but \($1.count)" }
        let all = StoreRequest.all([first, second, third.map { $0 + "!" }])
        #expect(all.operations.count == 4)
        #expect(try await fixture.commands.run(all, in: fixture.acme) == ["a true", "b true false", "nothing but 2!"])
    }

    @Test func aFailedConditionUndoesTheOperationsAfterIt() async throws {
        let fixture = try await StoreFixture.make()
        let condition = ExpectAttributes(fixture.scope, key: "nobody", attributes: [:])
        let request = StoreRequest(PutGroup(groups, "g")).preceded(by: [PutGroup(groups, "before"), condition])
        let error = await #expect(throws: StoreError.self) {
            _ = try await fixture.commands.run(request, in: fixture.acme)
        }
        #expect(error?.code == .outdated)
        #expect(try await fixture.ask(FindGroups(groups, ["before", "g"])).isEmpty)
        // A condition that holds adds no answer.
        let held = StoreRequest(PutGroup(groups, "g")).preceded(by: [PutGroup(groups, "before")])
        #expect(try await fixture.commands.run(held, in: fixture.acme) == true)
    }

    @Test func aSettledRequestRunsNoStatement() async throws {
        let pool = try await TestCluster.database(migrated: false).pool(.call)
        await pool.close()
        let store = OperationStore(call: pool, node: "n")
        let request = StoreRequest.all([StoreRequest.settled(1), .settled(2)]).map { $0.reduce(0, +) }
        #expect(request.isSettled && request.known == 3)
        #expect(try await store.run(request, in: "acme") == 3)
        #expect(StoreRequest(FindApp(groups)).known == nil)
    }

    // The text of a statement is the key of its prepared statement.
    @Test func theTextOfAStatementDoesNotDependOnItsValues() {
        let call = StoreCall(tenant: "acme", node: "n")
        func register(_ registration: DeviceRegistration) -> Statement {
            RegisterDevice(
                groups,
                key: "k",
                registration,
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                at: Timestamp(seconds: 1)
            ).statement(call)
        }
        let bare = register(DeviceRegistration(key: "k", platform: .ios))
        let full = register(DeviceRegistration(key: "k", platform: .android, user: "u", phone: "1"))
        #expect(bare.sql == full.sql && bare.parameters.count == full.parameters.count)
        #expect(bare.sql.hasPrefix("SELECT * FROM gateway.register_noted(p_tenant => $1, p_app => $2,"))
        #expect(bare.reach == .tenant)
    }

    // Only short writes wait for each other.
    @Test func onlyShortWritesShareACommit() async throws {
        let slice = NewSlice(number: 0, work: .deliver, targets: (0..<501).map { _ in TargetID(rawValue: UUID()) })
        let fixture = try await StoreFixture.make()
        var message = try await fixture.message()
        #expect(OperationStore.shareCommit([AcceptMessage(message), FindApp(groups)]))
        message.targets.slices = [slice]
        #expect(!OperationStore.shareCommit([AcceptMessage(message)]))
        #expect(!OperationStore.shareCommit([FindApp(groups)]))
        #expect(!OperationStore.shareCommit([PutGroup(groups, "g"), FindGroups(groups, ["g"])]))
        #expect(!OperationStore.shareCommit(Array(repeating: PutGroup(groups, "g"), count: 9)))
        let page = HistoryPage(.device, count: 1)
        let looked = HistoryPage(.device, count: 1, look: HistoryLook())
        let (caller, at) = (DeviceCaller(key: "k"), Timestamp(seconds: 1))
        #expect(ListHistory(groups, caller, page, at: at).writes)
        #expect(!ListHistory(groups, caller, looked, at: at).writes)
    }
}
