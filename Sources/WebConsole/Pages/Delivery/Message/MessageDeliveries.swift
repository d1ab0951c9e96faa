import Model
import PageParts

/// Deliveries of one message that the page counts: all of a small message, the first ones of a large one.
struct MessageDeliveries {
    /// One page of the native API.
    static let limit = 1000

    struct Loss: Sendable, Hashable {
        var state: String
        var reason: String?
        var count: Int64
    }

    /// The losses, the largest first.
    private(set) var losses: [Loss] = []
    /// Whether the losses are those of all deliveries.
    let areLossesWhole: Bool
    /// The number of deliveries behind `latencies` and `dialects`.
    let size: Int64
    let isWhole: Bool
    /// How long the push service took to answer, ascending. Unit: milliseconds.
    let latencies: [Int64]
    /// From the push to the report of its receipt, ascending. Unit: milliseconds.
    let receipts: [Int64]
    /// The deliveries by the vendor of the device's SDK; nil: the message's.
    private(set) var dialects: [String?: (count: Int64, reached: Int64, received: Int64, read: Int64)] = [:]

    /// The calls about a message whose counts are known. The states are asked for one by one only if the first page does not hold all deliveries.
    static func calls(_ message: String, _ funnel: MessageFunnel) -> [APICall] {
        let path = "messages/\(APICall.segment(message))/deliveries"
        let limit = ("limit", Optional(String(Self.limit)))
        guard funnel.settled > 0 || !funnel.isKnown else { return [] }
        var calls = [Reading.get("sample", path, [limit])]
        guard funnel.settled > Int64(Self.limit) else { return calls }
        if funnel.failed > 0 { calls.append(Reading.get("failed", path, [limit, ("state", "failed")])) }
        if funnel.suppressed > 0 { calls.append(Reading.get("suppressed", path, [limit, ("state", "suppressed")])) }
        return calls
    }

    init(_ answers: Answers, _ funnel: MessageFunnel) {
        let sample = answers.body("sample")
        let rows = sample["deliveries"]?.array ?? []
        isWhole = sample["next"]?.string == nil
        size = Int64(rows.count)
        latencies = rows.compactMap { $0["transportMilliseconds"]?.int }.filter { $0 >= 0 }.sorted()
        receipts = rows.compactMap { row -> Int64? in
            guard let sent = Self.moment(row["sentAt"]), let received = Self.moment(row["receivedAt"]) else {
                return nil
            }
            return max(0, (received - sent).milliseconds)
        }.sorted()
        let lists = ["failed", "suppressed"].filter { answers.has($0) }.map { answers.body($0) }
        areLossesWhole = lists.isEmpty ? isWhole : lists.allSatisfy { $0["next"]?.string == nil }
        var counts: [Loss: Int64] = [:]
        func add(_ rows: [JSON]) {
            for row in rows {
                guard let state = row["state"]?.string, Self.lost.contains(state) else { continue }
                counts[Loss(state: state, reason: Reading.text(row["reason"], 80), count: 0), default: 0] += 1
            }
        }
        if lists.isEmpty { add(rows) } else { for list in lists { add(list["deliveries"]?.array ?? []) } }
        // Reasons of these states are the states themselves, and their counts are known.
        for (state, count) in [("expired", funnel.expired), ("canceled", funnel.canceled)] {
            counts = counts.filter { $0.key.state != state }
            if count > 0 { counts[Loss(state: state, reason: nil, count: 0)] = count }
        }
        losses = counts.map { Loss(state: $0.key.state, reason: $0.key.reason, count: $0.value) }
            .sorted { ($1.count, $0.state, $0.reason ?? "") < ($0.count, $1.state, $1.reason ?? "") }
        for row in rows {
            let state = row["state"]?.string ?? ""
            var tally = dialects[row["deviceVendor"]?.string] ?? (0, 0, 0, 0)
            tally.count += 1
            if ["sent", "received", "read"].contains(state) { tally.reached += 1 }
            if ["received", "read"].contains(state) { tally.received += 1 }
            if state == "read" { tally.read += 1 }
            dialects[row["deviceVendor"]?.string] = tally
        }
    }

    private static let lost: Set<String> = ["failed", "suppressed", "expired", "canceled"]

    private static func moment(_ json: JSON?) -> Timestamp? { json?.string.flatMap { Timestamp(rfc3339: $0) } }

    /// The value that a share of ascending values does not exceed; nil without values.
    static func percentile(_ values: [Int64], _ share: Double) -> Int64? {
        guard !values.isEmpty else { return nil }
        let place = Int((Double(values.count) * min(1, max(0, share))).rounded(.up)) - 1
        return values[min(values.count - 1, max(0, place))]
    }
}
