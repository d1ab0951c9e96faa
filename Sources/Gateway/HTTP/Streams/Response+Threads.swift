package import Hummingbird

extension Response {
    /// The response, whose body is made on the threads of the process if it is made while it is written: exports, streams of events and compressed answers. A listener
    /// writes bodies where it runs its calls, which may be the event loop of the connection, and a body that is complete only leaves there.
    package func writtenOnThreads() -> Response {
        let body = self.body
        guard body.contentLength == nil else { return self }
        var response = self
        response.body = ResponseBody { writer in
            let base = writer
            try await withTaskExecutorPreference(globalConcurrentExecutor) { try await body.write(base) }
        }
        return response
    }
}
