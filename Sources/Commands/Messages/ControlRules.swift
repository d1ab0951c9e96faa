package import Model
package import Store

/// The rule for pausing, resuming, requeueing and canceling a message, which the native API and the program's commands share.
package enum ControlRules {
    /// Controls a message. The answer is false if nothing was changed.
    ///
    /// - Parameters:
    ///   - control: the operation.
    ///   - message: the message.
    ///   - scope: the app of the message, and the dialect of the caller.
    ///   - actor: the actor for the audit; nil writes no row.
    /// - Returns: whether something was changed.
    package static func control(
        _ control: MessageControl,
        _ message: MessageID,
        _ scope: AppScope,
        by actor: String?
    ) -> StoreRequest<Bool> {
        StoreRequest(ControlMessage(scope, message, control, by: actor)) { $0 > 0 }
    }
}
