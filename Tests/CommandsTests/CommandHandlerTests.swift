import Commands
import Model
import TestKit
import Testing

@Suite struct CommandHandlerTests {
    // Design §4: our own trouble is a refusal that makes the caller try again, never a throw.
    @Test(arguments: [StoreError.Code.unavailable, .timedOut, .failed])
    func theStoresTroubleIsARefusalThatAsksToTryAgain(_ code: StoreError.Code) async {
        let desk = Desk()
        desk.database.failNext(StoreError(code, "down"))
        let reply = await desk.registration(.register(DeviceRegistration(key: "k", platform: .ios)))
        #expect(reply == .refused(.unavailable(retryAfter: .seconds(2))))
        desk.database.failNext(StoreError(code, "down"))
        let result = await desk.submit(.text(to: "01011111111"))
        #expect(result == CallResult(replies: [.refused(.unavailable(retryAfter: .seconds(2)))]))
    }

    @Test func aConflictIsTriedAgainTwice() async {
        let desk = Desk()
        let conflict = StoreError(.conflict, "40001")
        desk.database.failNext(conflict, conflict)
        #expect(await desk.device("k1") != nil)
        desk.database.failNext(conflict, conflict, conflict)
        #expect(await desk.device("k2") == nil)
        #expect(await desk.device("k2")?.wasActive == false)
    }

    // Design §4: one call, one transaction.
    @Test func theCommandsOfOneCallHappenTogetherOrNotAtAll() async {
        let desk = Desk()
        let commands = ["k1", "k2"].map {
            Command.registration(.register(DeviceRegistration(key: VendorDeviceKey($0), platform: .ios)))
        }
        desk.database.failNext(StoreError(.unavailable, "down"))
        let failed = await desk.handler.perform(commands, in: desk.call)
        #expect(failed.replies.count == 2)
        // One failure for both: a second transaction would have succeeded.
        #expect(failed.replies.allSatisfy { $0 == .refused(.unavailable(retryAfter: .seconds(2))) })
    }

    @Test func everyCommandOfACallHasItsReplyInOrder() async {
        let desk = Desk()
        let register = Command.registration(.register(DeviceRegistration(key: "k", platform: .ios)))
        let invalid = Command.registration(.register(DeviceRegistration(key: "", platform: .ios)))
        let submit = Command.submission(.submit(.text(to: "01011111111")))
        let leave = Command.registration(.unregister(.key("k")))
        let replies = await desk.perform(register, invalid, submit, leave).replies
        #expect(replies.count == 4)
        #expect(replies[1] == .refused(.invalid("key")))
        #expect(replies[3] == .registration(.unregistered(1)))
        if case .submission(.accepted) = replies[2] {} else { Issue.record("\(replies[2])") }
    }

    @Test func tooManyCommandsInACallAreRefusedWhole() async {
        let desk = Desk()
        let commands = Array(repeating: Command.registration(.unregister(.key("k"))), count: 101)
        let result = await desk.handler.perform(commands, in: desk.call)
        #expect(result.replies.count == 101)
        #expect(result.replies.allSatisfy { $0 == .refused(.tooMany("commands", limit: 100)) })
    }
}
