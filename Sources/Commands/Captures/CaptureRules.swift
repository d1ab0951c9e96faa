package import CaptureStore
package import FoundationEssentials
import Model
package import Store

/// The rules for captures of a vendor's calls. Each act writes a row of the audit and notifies the nodes.
package enum CaptureRules {
    /// Starts a capture.
    ///
    /// - Parameters:
    ///   - capture: the id of the capture.
    ///   - order: the binding and the limits.
    ///   - isBound: whether the app has a binding of the vendor. Calls cannot read bindings, so the caller does.
    ///   - actor: for the audit.
    /// - Returns: the capture, or the reason why none was started.
    package static func start(
        _ capture: UUID,
        _ order: CaptureOrder,
        isBound: Bool,
        by actor: AuditActor
    ) -> StoreRequest<CaptureStart> {
        // Not answered without the store: a repeated call must get its first answer, even if the binding has been removed since.
        guard isBound else { return StoreRequest(FindCapture(capture)) { _ in .missing } }
        return StoreRequest(StartCapture(capture, order, by: actor), FindCapture(capture)) { outcome, facts in
            switch outcome {
            case .started: facts.map { .started($0) } ?? .missing
            case .running: .running
            case .tooMany: .tooMany
            case .missing: .missing
            }
        }
        .ending { start in
            guard case .started = start else { return [] }
            return announcement(.start, capture, data(order), by: actor)
        }
    }

    /// Ends a capture. The answer is false if the capture is not running.
    package static func stop(_ capture: UUID, by actor: AuditActor) -> StoreRequest<Bool> {
        StoreRequest(StopCapture(capture)) { $0 }
            .ending { $0 ? announcement(.stop, capture, nil, by: actor) : [] }
    }

    /// Removes a capture with its exchanges. The answer is false if it does not exist.
    package static func remove(_ capture: UUID, by actor: AuditActor) -> StoreRequest<Bool> {
        StoreRequest(RemoveCapture(capture)) { $0 }
            .ending { $0 ? announcement(.remove, capture, nil, by: actor) : [] }
    }

    private static func data(_ order: CaptureOrder) -> JSON {
        [
            "app": .string(order.app.rawValue), "vendor": .string(order.vendor.rawValue),
            "seconds": .int(order.limits.duration.milliseconds / 1000), "exchanges": .int(order.limits.exchangeCount),
            "texts": .bool(order.keepsTexts),
        ]
    }

    private static func announcement(
        _ action: AuditAction,
        _ capture: UUID,
        _ data: JSON?,
        by actor: AuditActor
    ) -> [any StoreOperation] {
        let record = AuditRecord(action, "capture \(capture.uuidString.lowercased())", data: data)
        return [WriteAudit([record], by: actor), NotifyNodes()]
    }
}
