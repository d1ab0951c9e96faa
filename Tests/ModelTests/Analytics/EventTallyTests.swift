import Foundation
import Testing

@testable import Model

@Suite struct EventTallyTests {
    private let message = MessageID(UUID())
    private let due = Timestamp(seconds: 1_800_000_000)
    private let device = DeviceID(UUID())
    private let target = TargetID(UUID())

    private func hash() throws -> KeyedHash { try #require(KeyedHash(key: Array(repeating: 7, count: 16))) }

    private func delivery(_ state: String, received: Int64? = nil, read: Int64? = nil, sent: Int64? = 100)
        -> LoggedDelivery
    {
        func time(_ milliseconds: Int64?) -> Timestamp? { milliseconds.map { due + .milliseconds($0) } }
        return LoggedDelivery(
            key: .init(dueDay: due.day, message: message, target: target),
            state: state,
            hasTransport: true,
            sentAt: time(sent),
            receivedAt: time(received),
            readAt: time(read),
            device: device,
            user: "u"
        )
    }

    private func event(_ kind: LoggedEvent.Kind, before: String? = nil, _ delivery: LoggedDelivery?) -> LoggedEvent {
        LoggedEvent(kind, at: due, before: before, app: "shop", vendor: "upmc", delivery: delivery)
    }

    private func count(
        _ events: [LoggedEvent],
        single: Bool = true,
        zone: String = "UTC",
        marks: [LoggedDelivery.Key: ReceiptMark] = [:]
    ) throws -> EventAdditions {
        EventTally.count(
            events,
            due: [message: DueTime(at: due, isSingle: single)],
            zones: ["shop": TimeZoneName(stored: zone)],
            marks: marks,
            hash: try hash()
        )
    }

    /// The number of values by kind.
    private func numbers(_ additions: EventAdditions) -> [LatencyKind: Int64] {
        Dictionary(additions.latencies.map { ($0.key.kind, $0.value.count) }, uniquingKeysWith: +)
    }

    // The events are read after all of them have happened: each sees the last state.
    @Test func eachLatencyIsCountedOnce() throws {
        let last = delivery("read", received: 300, read: 900)
        let events = [
            event(.sent, last), event(.received, before: "sent", last), event(.read, before: "received", last),
        ]
        let whole = try count(events)
        #expect(numbers(whole) == [.delivery: 1, .receipt: 1, .read: 1])
        let key = EventAdditions.LatencyKey(quarter: 2_000_000, app: "shop", vendor: "upmc", kind: .read)
        #expect(whole.latencies[key]?.buckets == [LatencyHistogram.bucket(of: 800): 1])
        #expect(numbers(try count([event(.sent, last), event(.read, before: "sent", last)])) == numbers(whole))
        // Read one by one, each with the state of its time.
        let parts = [
            [event(.sent, delivery("sent"))], [event(.received, before: "sent", delivery("received", received: 300))],
            [event(.read, before: "received", last)],
        ]
        var sum: [LatencyKind: Int64] = [:]
        for part in parts { sum.merge(numbers(try count(part)), uniquingKeysWith: +) }
        #expect(sum == numbers(whole))
        #expect(whole.marks.isEmpty)
    }

    @Test func aReceiptBeforeTheOutcomeIsCountedWithIt() throws {
        let last = delivery("read", received: 40, read: 900)
        let events = [event(.received, before: nil, last), event(.sent, last), event(.read, before: "received", last)]
        let whole = try count(events)
        #expect(numbers(whole) == [.delivery: 1, .receipt: 1, .read: 1])
        #expect(whole.marks == [last.key: ReceiptMark?.none])
        let first = try count([event(.received, before: nil, delivery("received", received: 40, sent: nil))])
        #expect(first.latencies.isEmpty)
        #expect(first.marks == [last.key: ReceiptMark(isEarly: true, isReceived: true)])
        let second = try count(Array(events[1...]), marks: first.marks.compactMapValues(\.self))
        #expect(second.latencies == whole.latencies && second.marks == whole.marks)
        // The receipt was 60 ms before the outcome.
        #expect(second.latencies.first { $0.key.kind == .receipt }?.value.negative == 1)
    }

    @Test func aReceiptThatContradictsTheOutcomeIsCountedOnce() throws {
        let last = delivery("received", received: 300)
        // The app fetched the message, which changes no state, and later reported it.
        let events = [
            event(.failed, last), event(.received, before: "failed", last), event(.received, before: "failed", last),
        ]
        let whole = try count(events)
        #expect(numbers(whole) == [.delivery: 1, .receipt: 1])
        let first = try count([events[1]])
        #expect(numbers(first) == [.receipt: 1])
        #expect(numbers(try count([events[2]], marks: first.marks.compactMapValues(\.self))) == [:])
        // A fetch alone counts nothing.
        #expect(numbers(try count([event(.received, before: "failed", delivery("failed", received: 300))])) == [:])
    }

    @Test func aMessageWhosePartsAreDueAtDifferentTimesHasNoDeliveryLatency() throws {
        #expect(numbers(try count([event(.sent, delivery("sent"))], single: false)) == [:])
        #expect(numbers(try count([event(.sent, nil)])) == [:])
    }

    // Quiet hours, local times and throttling are not latencies: the push was due when they ended.
    @Test(arguments: [true, false])
    func aDeliveryIsTimedFromItsOwnDueTime(isSingle: Bool) throws {
        var late = delivery("sent", sent: 28_800_700)
        late.dueAt = due + .seconds(28_800)
        let counted = try count([event(.sent, late)], single: isSingle).latencies
        #expect(counted.map(\.value.buckets) == [[LatencyHistogram.bucket(of: 700): 1]])
        // It counts in the quarter hour of its message.
        #expect(counted.keys.map(\.quarter) == [2_000_000])
    }

    @Test func devicesAndUsersAreCountedByTheDayOfTheZone() throws {
        // 2027-01-15T08:00Z is already the 16th on Kiritimati after 10:00Z.
        let events = [
            event(.sent, delivery("sent")), event(.read, before: "sent", delivery("read", received: 5, read: 5)),
        ]
        let additions = try count(events + events, zone: "Pacific/Kiritimati")
        #expect(Set(additions.sketches.keys.map(\.day.day)) == [(due + .seconds(14 * 3600)).day])
        #expect(additions.sketches.count == 6 && additions.sketches.values.allSatisfy { $0.estimate == 1 })
        let sent = try count([event(.failed, delivery("failed"))])
        #expect(sent.sketches.isEmpty)
    }

    @Test func changesOfDevicesAreCounted() throws {
        let kinds: [LoggedEvent.Kind] = [
            .registered, .registered, .registered, .unregistered, .replaced, .tokenInvalidated,
        ]
        let additions = try count(kinds.map { event($0, nil) })
        #expect(additions.changes.values.map(\.self) == [DeviceChanges(gained: 3, lost: 2, invalidated: 1)])
    }

    /// The counts of a property as sentences.
    private func counts(_ additions: EventAdditions, _ property: CountedProperty) -> [String] {
        additions.counts.filter { $0.key.property == property }.map {
            "\($0.key.value.name)/\($0.key.value.variant) \($0.value.reached) \($0.value.received) \($0.value.read)"
        }.sorted()
    }

    @Test func reachIsCountedByVersionCampaignAndHour() throws {
        var last = delivery("read", received: 300, read: 900)
        last.client = 5
        last.localHour = WeekHour(12)
        let due = DueTime(at: due, campaign: CountedValue("spring", variant: "b"))
        let events = [
            event(.sent, last), event(.received, before: "sent", last), event(.read, before: "received", last),
            event(.sent, delivery("sent")), event(.failed, delivery("failed")),
        ]
        let additions = EventTally.count(
            events,
            due: [message: due],
            zones: ["shop": TimeZoneName(stored: "Asia/Seoul")],
            marks: [:],
            hash: try hash()
        )
        #expect(counts(additions, .client) == ["/ 1 0 0", "5/ 1 1 1"])
        #expect(counts(additions, .campaign) == ["spring/b 2 1 1"])
        // 2027-01-15, a Friday, 08:00 UTC.
        #expect(counts(additions, .hour) == ["113/ 1 0 0", "12/ 1 1 1"])
        #expect(counts(try count(events), .campaign) == [])
    }

    @Test func aDeliveryIsReachedOnceWhateverTheOrder() throws {
        let last = delivery("received", received: 300)
        let contradicting = [
            event(.failed, last), event(.received, before: "failed", last), event(.received, before: "failed", last),
        ]
        #expect(counts(try count(contradicting), .client) == ["/ 1 1 0"])
        let early = [event(.received, before: nil, last), event(.sent, last)]
        #expect(counts(try count(early), .client) == ["/ 1 1 0"])
    }
}
