import DatabaseSchema
import DatabaseSupport
import Model
import PostgresClient
import Store
import TestKit
import Testing

@testable import Commands

@Suite struct CommandHandlerTests {
    // A failure of the store is a refusal that makes the caller retry, never a thrown error.
    @Test(arguments: [StoreError.Code.unavailable, .timedOut, .failed, .conflict])
    func aStoreFailureIsARefusalWithARetry(_ code: StoreError.Code) async throws {
        let handler = try await CommandWorld.make().handler
        #expect(handler.refusal(of: StoreError(code, "down")) == .unavailable(retryAfter: .seconds(2)))
    }

    @Test func withoutADatabaseCallersMustRetry() async throws {
        let world = try await CommandWorld.make()
        let pool = world.stores.database.pool(.call)
        await pool.close()
        let handler = CommandHandler(
            store: OperationStore(call: pool, node: world.node),
            clock: world.clock,
            identifiers: world.identifiers,
            node: world.node
        )
        let commands: [Command] = [
            .registration(.register(DeviceRegistration(key: "k", platform: .ios))),
            .submission(.submit(.text(to: "01011111111"))), .user(.describe([.id("u")])),
        ]
        let result = await handler.perform(commands, in: world.call)
        let unavailable = Reply.refused(.unavailable(retryAfter: .seconds(2)))
        #expect(result == CallResult(replies: [unavailable, unavailable, unavailable]))
        // A command that does not need the store is answered normally.
        let refused = await handler.perform([.group(.find(""))], in: world.call)
        #expect(refused.replies == [.refused(.unknownGroup(""))])
    }

    /// A world whose next `count` transactions that create a group have a conflict with another one.
    private func conflicting(_ count: Int) async throws -> CommandWorld {
        let world = try await CommandWorld.alone()
        let admin = try await world.stores.database.admin()
        // A rollback does not reset a sequence, so it counts the attempts.
        try await admin.script(
            """
            CREATE SEQUENCE public.tries;
            GRANT USAGE ON SEQUENCE public.tries TO PUBLIC;
            CREATE FUNCTION public.conflict() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('public.tries') <= \(count) THEN RAISE lock_not_available; END IF;
                RETURN NULL;
            END $$;
            CREATE TRIGGER conflict AFTER INSERT ON gateway.user_group FOR EACH STATEMENT EXECUTE FUNCTION public.conflict();
            """
        )
        await admin.close()
        return world
    }

    @Test(arguments: [2, 3])
    func aConflictIsRetriedTwice(_ conflicts: Int) async throws {
        let world = try await conflicting(conflicts)
        let reply = await world.reply(.group(.put("g")))
        let wanted: Reply =
            conflicts == 2 ? .group(.put(isNew: true)) : .refused(.unavailable(retryAfter: .seconds(2)))
        #expect(reply == wanted)
    }

    // One call is one transaction.
    @Test func theCommandsOfOneCallAreAtomic() async throws {
        let world = try await conflicting(3)
        let failed = await world.perform(.group(.put("g1")), .group(.put("g2")))
        // One failure for both: a second transaction would have succeeded.
        let unavailable = Reply.refused(.unavailable(retryAfter: .seconds(2)))
        #expect(failed.replies == [unavailable, unavailable])
        #expect(await world.reply(.group(.find("g1"))) == .refused(.unknownGroup("g1")))
        #expect(await world.reply(.group(.put("g1"))) == .group(.put(isNew: true)))
    }

    @Test func everyCommandOfACallHasItsReplyInOrder() async throws {
        let world = try await CommandWorld.make()
        let register = Command.registration(.register(DeviceRegistration(key: "k", platform: .ios)))
        let invalid = Command.registration(.register(DeviceRegistration(key: "", platform: .ios)))
        let submit = Command.submission(.submit(.text(to: "01011111111")))
        let leave = Command.registration(.unregister(.key("k")))
        let replies = await world.perform(register, invalid, submit, leave).replies
        #expect(replies.count == 4)
        #expect(replies[1] == .refused(.invalid("key")))
        #expect(replies[3] == .registration(.unregistered(1)))
        if case .submission(.accepted) = replies[2] {} else { Issue.record("\(replies[2])") }
    }

    @Test func tooManyCommandsInACallAreRefusedCompletely() async throws {
        let world = try await CommandWorld.make()
        let commands = Array(repeating: Command.registration(.unregister(.key("k"))), count: 101)
        let result = await world.handler.perform(commands, in: world.call)
        #expect(result.replies.count == 101)
        #expect(result.replies.allSatisfy { $0 == .refused(.tooMany("commands", limit: 100)) })
    }
}
