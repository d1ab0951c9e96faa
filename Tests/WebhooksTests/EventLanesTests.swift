import Model
import TestKit
import Testing

@testable import Webhooks

// docs/webhooks.md, "Order": in parallel, in the order of the log for each device.
@Suite struct EventLanesTests {
    private let identifiers = TestIdentifiers()
    private let now = Timestamp(seconds: 1_790_000_000)

    private func event(_ offset: Int64, _ subject: EventSubject) -> EventRecord {
        EventRecord(offset: offset, at: now, kind: "sent", app: "shop", vendor: nil, subject: subject)
    }

    private func devices(_ count: Int) -> [DeviceID] {
        (0..<count).map { _ in DeviceID(rawValue: identifiers.uuid(at: now)) }
    }

    @Test func everyEventIsInOneLaneAndADeviceKeepsItsOrder() {
        let devices = devices(50)
        let events = (0..<1000).map { event(Int64($0 + 1), EventSubject(device: devices[$0 * 7 % 50])) }
        let lanes = EventLanes(events, count: 8).lanes
        #expect(lanes.count == 8)
        #expect(lanes.flatMap { $0 }.map(\.offset).sorted() == Array(1...1000))
        for lane in lanes { #expect(lane.map(\.offset) == lane.map(\.offset).sorted()) }
        for device in devices {
            #expect(lanes.filter { lane in lane.contains { $0.subject.device == device } }.count == 1)
        }
        // The receiver's load is spread: no lane has more than half of the events.
        #expect(lanes.allSatisfy { $0.count < 500 })
    }

    @Test func theMostStableSubjectOfAnEventIsItsKey() {
        let device = devices(1)[0]
        let identity = IdentityID(rawValue: identifiers.uuid(at: now))
        let messages = (0..<20).map { _ in MessageID(rawValue: identifiers.uuid(at: now)) }
        func lanes(_ subjects: [EventSubject]) -> Int {
            EventLanes(subjects.map { event(1, $0) }, count: 8).lanes.count
        }
        #expect(lanes(messages.map { EventSubject(message: $0, identity: identity, device: device) }) == 1)
        #expect(lanes(messages.map { EventSubject(message: $0, identity: identity) }) == 1)
        #expect(lanes(messages.map { EventSubject(message: $0) }) > 1)
        #expect(lanes([EventSubject(), EventSubject()]) == 1)
    }

    @Test func oneLaneIsTheLog() {
        let events = (1...9).map { event($0, EventSubject(device: devices(1)[0])) }
        #expect(EventLanes(events, count: 1).lanes == [events])
        #expect(EventLanes(events, count: 0).lanes == [events])
        #expect(EventLanes([], count: 8).lanes.isEmpty)
    }

    @Test func thePositionReachedIsBeforeTheFirstOpenEvent() {
        let devices = devices(50)
        // Offsets with gaps: a filter left events out.
        let events = (0..<50).map { event(Int64($0 * 10 + 5), EventSubject(device: devices[$0])) }
        let split = EventLanes(events, count: 8)
        let all = split.lanes.map(\.count)
        #expect(split.reached(all, from: 1, through: 499) == 499)
        #expect(split.reached(all.map { _ in 0 }, from: 1, through: 499) == 1)
        for (index, lane) in split.lanes.enumerated() {
            var confirmed = all
            confirmed[index] = 1
            let open = lane[1].offset
            #expect(split.reached(confirmed, from: 1, through: 499) == open - 10)
        }
    }
}
