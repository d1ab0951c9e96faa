import Model
import PageParts

/// The losses of a range, and of its parts, from which the first appearance of a reason follows.
struct FailureFigures {
    struct Loss: Sendable, Hashable {
        var stage: String
        /// Nil: the stage is the reason.
        var reason: String?
        var count: Int64

        /// The name of it in a link.
        var key: String { reason ?? stage }
        /// Deliveries with the loss have this state.
        var state: String {
            switch stage {
            case "unsendable", "rejected": "failed"
            case let other: other
            }
        }
    }

    /// Seven parts: the days of a week.
    static let partCount: Int64 = 7

    /// The largest first.
    let losses: [Loss]
    let targets: Int64
    let isWhole: Bool
    /// When each part begins, with its losses; nil: they could not be read.
    let parts: [(start: Timestamp, losses: [Loss]?)]

    var lost: Int64 {
        losses.reduce(0) { sum, loss in
            let (added, overflow) = sum.addingReportingOverflow(loss.count)
            return overflow ? .max : added
        }
    }

    init(_ answers: Answers, _ request: PageRequest) {
        let body = answers.body("losses")
        losses = Self.losses(body)
        targets = Reading.number(body["targets"])
        isWhole = body["complete"]?.bool ?? true
        parts = Self.bounds(request).enumerated().map { index, bound in
            let answer = answers["part\(index)"]
            return (bound.from, answer?.isSuccess == true ? answer.map { Self.losses($0.body) } : nil)
        }
    }

    private static func losses(_ body: JSON) -> [Loss] {
        (body["losses"]?.array ?? []).compactMap { loss in
            guard let stage = loss["stage"]?.string else { return nil }
            return Loss(
                stage: Reading.line(stage, 40),
                reason: Reading.text(loss["reason"], 80),
                count: Reading.number(loss["count"])
            )
        }
    }

    // MARK: Calls

    static func calls(_ request: PageRequest) -> [APICall] {
        let range = ShownRange(request)
        var calls = [call("losses", request, range.from, range.to)]
        for (index, bound) in bounds(request).enumerated() {
            calls.append(call("part\(index)", request, bound.from, bound.to))
        }
        return calls
    }

    static func call(_ name: String, _ request: PageRequest, _ from: Timestamp, _ to: Timestamp) -> APICall {
        let zone = ConsoleFormat(request).zone.text
        return Reading.get(
            name,
            "analytics/losses",
            [
                ("from", from.rfc3339), ("to", to.rfc3339), ("zone", zone), ("app", request.value("app")),
                ("vendor", request.value("vendor")),
            ]
        )
    }

    /// The parts of the range, to whole quarter hours, which is how exactly losses are counted. Those that have not begun are left out.
    static func bounds(_ request: PageRequest) -> [(from: Timestamp, to: Timestamp)] {
        let range = ShownRange(request)
        let quarter: Int64 = 900
        let start = range.from.seconds / quarter * quarter
        let length = max(quarter, (range.to.seconds - start) / partCount / quarter * quarter)
        var bounds: [(from: Timestamp, to: Timestamp)] = []
        for index in 0..<partCount {
            let from = Timestamp(seconds: start + index * length)
            let isLast = index == partCount - 1
            let to = isLast ? range.to : Timestamp(seconds: start + (index + 1) * length)
            guard from < to, from <= request.now else { break }
            bounds.append((max(from, range.from), to))
        }
        return bounds
    }

    // MARK: Answers

    /// When a loss first occurred in the range. `isBefore`: it occurs from the beginning of the range, so that it may be older.
    func first(_ loss: Loss) -> (at: Timestamp, isBefore: Bool)? {
        for (index, part) in parts.enumerated() {
            // A part that could not be read may have the loss.
            guard let losses = part.losses else { return nil }
            if losses.contains(where: { $0.stage == loss.stage && $0.reason == loss.reason && $0.count > 0 }) {
                return (part.start, index == 0)
            }
        }
        return nil
    }

    /// The counts of a loss in each part; nil is a gap.
    func course(_ key: String) -> [Int64?] {
        parts.map { part in
            part.losses.map { losses in losses.filter { $0.key == key }.reduce(0) { $0 + min($1.count, 1 << 40) } }
        }
    }
}
