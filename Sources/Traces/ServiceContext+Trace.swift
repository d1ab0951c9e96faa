package import Model
package import Tracing

extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
        typealias Value = TraceContext
        static let nameOverride: String? = "trace"
    }

    /// The place in a trace at which new spans begin. Nil: a new span begins a trace.
    package var trace: TraceContext? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }
}
