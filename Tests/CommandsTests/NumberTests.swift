import Model
import TestKit
import Testing

@testable import Commands

/// Numbers of messages: their text, the blocks of a node, and the submissions that draw them.
@Suite struct NumberTests {
    // protocols/ipns.md §2.6: yyyyMMddHHmmss in Seoul and four digits.
    @Test func aNumberIsTheSecondInSeoulAndAPlaceInIt() {
        // 2020-01-15 09:00:00 in Seoul.
        let second: Int64 = 1_579_046_400 * MessageNumber.perSecond
        #expect(MessageNumber(rawValue: second + 1234).text == "202001150900001234")
        // The 10,001st borrows from the next second.
        #expect(MessageNumber(rawValue: second + 10_000).text == "202001150900010000")
    }

    @Test func aBlockIsGivenOutInOrderWithinItsSecondOnlyAndGrows() {
        let pool = NumberPool()
        let key = NumberPool.Key(tenant: "acme", scope: AppScope(app: "shop", vendor: .ipns))
        #expect(pool.take(key, at: 7) == .draw(1))
        pool.put(MessageNumbers(first: MessageNumber(rawValue: 70_000), count: 1), key, at: 7)
        #expect(pool.take(key, at: 7) == .draw(8))
        pool.put(MessageNumbers(first: MessageNumber(rawValue: 70_010), count: 3), key, at: 7)
        pool.put(MessageNumbers(first: MessageNumber(rawValue: 70_001), count: 2), key, at: 7)
        #expect(pool.take(key, at: 7) == .number(MessageNumber(rawValue: 70_002)))
        #expect(pool.take(key, at: 7) == .number(MessageNumber(rawValue: 70_011)))
        // What is left of a second is lost with it.
        #expect(pool.take(key, at: 8) == .draw(1))
        let other = NumberPool.Key(tenant: "other", scope: key.scope)
        #expect(pool.take(other, at: 7) == .draw(1))
    }

    @Test func aReservedMessagesIDIsOfTheMomentItIsDue() async throws {
        let desk = Desk()
        await desk.device("k1", phone: "01011111111")
        var submission = Submission.text(to: "01011111111")
        let due = desk.clock.now() + .seconds(86_400)
        submission.dueAt = due
        let message = try #require(await desk.message(desk.submit(submission)))
        let (first, next) = (MessageID.first(at: due), MessageID.first(at: due + .milliseconds(1)))
        #expect(first.map { message.id >= $0 } == true && next.map { message.id < $0 } == true)
    }

    @Test func whoIsNotKnownIsNoTargetWhereTheCallerSaysSo() async throws {
        let desk = Desk()
        await desk.device("k1", phone: "01011111111")
        var submission = Submission.text("b", to: "01011111111", "01099999999")
        submission.omitsUnknown = true
        guard case .submission(.addressed(let sent))? = await desk.submit(submission).replies.first else {
            Issue.record("no numbered answer")
            return
        }
        #expect(sent.recipients == 1 && sent.addressees == 1 && sent.unknown == [.phone("01099999999")])
        #expect(sent.number == nil)
        var nobody = Submission.text("b", to: "01099999999")
        nobody.omitsUnknown = true
        #expect(await desk.submit(nobody).replies == [.refused(.unknownDevice)])
    }
}
