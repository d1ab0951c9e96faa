import Model

/// The events of a page, split for parallel calls: every event is in exactly one lane, and the events of a device are in the same lane, in the order of
/// the log.
struct EventLanes {
    let lanes: [[EventRecord]]

    /// Splits `events` into at most `count` lanes. Lanes without events are left out.
    init(_ events: [EventRecord], count: Int) {
        var lanes = [[EventRecord]](repeating: [], count: max(1, count))
        for event in events { lanes[Self.lane(of: event.subject, among: lanes.count)].append(event) }
        self.lanes = lanes.filter { !$0.isEmpty }
    }

    /// The lane follows from the device, or else from the identity, the delivery or the message. An event of none of them is in the first lane.
    private static func lane(of subject: EventSubject, among count: Int) -> Int {
        let key =
            subject.device?.rawValue ?? subject.identity?.rawValue ?? subject.target?.rawValue
            ?? subject.message?.rawValue
        guard let key else { return 0 }
        // FNV-1a over all bytes: some bits of a UUID are fixed, others are the time.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in key.bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return Int(hash % UInt64(count))
    }

    /// The offset up to which every event was confirmed, when the receiver confirmed the first `confirmed[i]` events of lane i: that of a confirmed
    /// event before which no other event is open, or `through` if all were confirmed. Without such an event it is `start`.
    func reached(_ confirmed: [Int], from start: Int64, through end: Int64) -> Int64 {
        var open: Int64?
        for (lane, count) in zip(lanes, confirmed) where count < lane.count {
            open = min(open ?? .max, lane[count].offset)
        }
        guard let open else { return end }
        var reached = start
        for (lane, count) in zip(lanes, confirmed) {
            guard let last = lane.prefix(count).last(where: { $0.offset < open }) else { continue }
            reached = max(reached, last.offset)
        }
        return reached
    }
}
