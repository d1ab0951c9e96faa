import DeliveryEngine
import Model

/// The outcomes of a flush, counted by transport, device's dialect, stage and reason, so that the server does not group its rows (`record_outcomes`).
struct OutcomeGroups {
    private struct Counts {
        var stages: [String: Int] = [:]
        /// By stage and reason, as in `rejected:Unregistered`.
        var reasons: [String: Int] = [:]
    }

    private struct Group: Hashable {
        /// "": none.
        var transport: String
        /// Nil: the dialect of the message.
        var device: Vendor?
    }

    private var groups: [Group: Counts] = [:]

    init(_ progress: SliceProgress) {
        for result in progress.results {
            let stage = result.stage
            let group = Group(
                transport: result.attempt.transport ?? "",
                device: result.otherDialect(than: progress.vendor)
            )
            groups[group, default: Counts()].stages[stage.rawValue, default: 0] += 1
            if stage == .expired, result.attempt.count > 0 {
                groups[group, default: Counts()].stages["expired_tried", default: 0] += 1
            }
            if let reason = result.reason, stage.hasReason {
                groups[group, default: Counts()].reasons["\(stage.rawValue):\(reason)", default: 0] += 1
            }
        }
    }

    /// A list with one object per group. Nil: there are no outcomes.
    var json: JSON? {
        if groups.isEmpty { return nil }
        return .array(
            groups.map { group, counts in
                var object: JSONObject = ["transport": .string(group.transport)]
                if let device = group.device { object["device"] = .string(device.rawValue) }
                for (stage, count) in counts.stages { object[stage] = .int(Int64(count)) }
                if !counts.reasons.isEmpty {
                    var reasons = JSONObject()
                    for (reason, count) in counts.reasons { reasons[reason] = .int(Int64(count)) }
                    object["reasons"] = .object(reasons)
                }
                return .object(object)
            }
        )
    }
}

/// The stage in which a delivery with an outcome is counted, as `stage_of` determines it from the row.
private enum OutcomeStage: String {
    case suppressed, canceled, expired, unsendable, accepted, uncertain, rejected

    /// Whether its deliveries are also counted by reason.
    var hasReason: Bool {
        switch self {
        case .suppressed, .unsendable, .rejected: true
        case .canceled, .expired, .accepted, .uncertain: false
        }
    }
}

extension DeliveryResult {
    /// The dialect of the device, if it does not follow from the message's. A message of the native API may have targets of any dialect.
    func otherDialect(than vendor: Vendor) -> Vendor? { dialect == vendor && vendor != .native ? nil : dialect }

    fileprivate var stage: OutcomeStage {
        switch state {
        case .suppressed: .suppressed
        case .canceled: .canceled
        case .expired: .expired
        case .failed: attempt.transport == nil ? .unsendable : .rejected
        case .queued, .sent, .received, .read: attempt.isCertain ? .accepted : .uncertain
        }
    }
}
