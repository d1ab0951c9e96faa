/// A stage in which deliveries are counted. Each delivery is counted in `targets`, and in one of the outcomes once it has one; `expiredTried` is a part of
/// `expired`; `received` and `read` are parts of `accepted` and `uncertain`; `observedSent` and `observedAccepted` are what a vendor sent by itself.
package enum FunnelStage: String, Sendable, Hashable, CaseIterable {
    case targets, suppressed, canceled, expired, expiredTried, unsendable, accepted, uncertain, rejected, received, read
    case observedSent, observedAccepted

    /// The stages of which a delivery is in at most one.
    package static let outcomes: [FunnelStage] = [
        .suppressed, .canceled, .expired, .unsendable, .rejected, .accepted, .uncertain,
    ]
}

/// The numbers of deliveries by stage.
package struct StageCounts: Sendable, Hashable {
    private var values: [FunnelStage: Int64] = [:]

    package init(_ values: [FunnelStage: Int64] = [:]) { self.values = values.filter { $0.value != 0 } }

    /// 0 for a stage without deliveries.
    package subscript(stage: FunnelStage) -> Int64 {
        get { values[stage, default: 0] }
        set { values[stage] = newValue == 0 ? nil : newValue }
    }

    package static func + (first: StageCounts, second: StageCounts) -> StageCounts {
        StageCounts(first.values.merging(second.values) { $0 &+ $1 })
    }

    /// The sum of stages.
    package func sum(_ stages: [FunnelStage]) -> Int64 { stages.reduce(0) { $0 &+ self[$1] } }
}
