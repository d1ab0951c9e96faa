package import NIOCore

/// Runs tasks on an event loop, so that what a connection does needs no second thread.
///
/// Otherwise each part of a call that waits for its connection, or for one to an upstream, changes threads twice: to a thread of the process when bytes arrive, and
/// back to the loop when bytes leave. On one core each change is a system call and a switch of threads.
///
/// While a job runs, all connections of the loop wait. Work that may take long must leave it, for example by `withTaskExecutorPreference(globalConcurrentExecutor)`.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    package init(_ loop: any EventLoop) { self.loop = loop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let task = UnownedJob(job)
        // The loop runs the closure once, and the closure holds the executor while the job runs.
        loop.execute { [self] in unsafe task.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
