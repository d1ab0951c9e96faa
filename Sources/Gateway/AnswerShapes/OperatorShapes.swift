import DeliveryEngine
package import EngineStore
import Model
import Store

/// The JSON forms of what an operator looks at: bindings, queue and nodes.
package enum OperatorShapes {
    private static let binding = AnswerShape<ListedBinding>(
        "Binding",
        [
            .text("vendor", "The vendor.", example: "ipns") { $0.vendor.rawValue },
            .text("kind", "The kind of the vendor's key.", example: "account") { $0.kind },
            .text("key", "The ends of the vendor's key.", example: "8d7c…504f") { $0.key },
            .optionalText("host", "The host of the calls; null: any.") { $0.host },
            .anyObject("settings", "The settings by dotted name. Secrets are `\(SettingChanges.mask)`.") {
                $0.settings
            },
            .word("origin", "`file`: a provisioning file changes it; `api`: calls do.") { $0.origin },
        ]
    )

    package static let bindings = AnswerShape<[ListedBinding]>(
        "Bindings",
        [.list("bindings", binding, "The bindings by vendor; at most \(ListedBinding.limit).") { $0 }]
    )

    private static let lane = AnswerShape<TenantQueue.LanePart>(
        "QueueLane",
        [
            .word("lane", among: Lane.allCases.map { "\($0)" }, "The lane.") { "\($0.lane)" },
            .flag("paused", "Whether the lane is paused.") { $0.isPaused },
            .int("due", "Slices that are due; a slice has about 500 targets.") { $0.due },
            .int("open", "Slices that are due, being sent or waiting.") { $0.open },
            .flag("more", "Whether there are more: at most \(TenantQueue.countLimit) are counted.") {
                $0.open >= TenantQueue.countLimit
            },
            .optionalTime("oldestDueAt", "When the first of those that are due became due; null: none is due.") {
                $0.oldestDueAt
            },
        ]
    )

    private static let held = AnswerShape<TenantQueue.Held>(
        "HeldSlices",
        [
            .text("credential", "The credential for which they wait.", example: "apple") { $0.credential.rawValue },
            .int("slices", "The slices; at most \(TenantQueue.countLimit) of all credentials are counted.") {
                $0.slices
            },
        ]
    )

    package static let queue = AnswerShape<TenantQueue>(
        "Queue",
        [
            .time("at", "The time for which the answer holds.") { $0.seenAt },
            .list("lanes", lane, "The lanes in which the tenant has or had work.") { $0.lanes },
            .list("heldBy", held, "The slices that wait for a credential which the push service refuses.") { $0.held },
        ]
    )

    private static let node = AnswerShape<NodeFacts>(
        "Node",
        [
            .text("node", "The node's id.", example: "host-1-4711") { $0.id.rawValue },
            .time("startedAt", "When it was started.") { $0.startedAt },
            .time("seenAt", "Its last heartbeat, one every few seconds.") { $0.seenAt },
        ]
    )

    package static let nodes = AnswerPage("nodes", node, next: .text(example: "host-1-4711"))
}
