package import Model
import Traces
import Tracing

extension CallScope {
    /// The scope with the place of the current call in its trace. `isTracing`: false where nothing is traced, which then costs nothing.
    package func traced(_ isTracing: Bool) -> CallScope {
        guard isTracing, let trace = ServiceContext.current?.trace else { return self }
        var scope = self
        scope.trace = trace
        return scope
    }
}
