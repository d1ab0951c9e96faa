internal import NIOConcurrencyHelpers

/// A client's HTTP/2 connection over TLS.
///
/// A pool creates it, submits requests to it and chooses between several. It ends by `close` or `abort`, by the peer or by a failure, and always reports
/// `closed` last. Once opened, it lives on its loop until then, even if all other references are released. All methods may be called from any thread.
///
/// Interfaces:
/// - **`submit`** takes as many requests from the front of a batch as there are credits, and returns how many. The *producer* encodes path, fields and payload
///   into the batch, on its own thread, in memory that it reuses; the *pool* above decides which connection gets the batch. The credits are the peer's stream
///   limit plus a short queue, less the requests in flight.
/// - The **observer** receives completions in batches, with the caller's slot ids and the credits, once per wake-up. Each submitted request completes exactly
///   once.
/// - **Cancellation and deadline** belong to the slot: `cancel(slots:)` and the deadline given to the batch.
/// - **`send`** sends a single request, for rare requests. Its continuation costs more than the whole batched path.
package final class Connection: Sendable {
    let configuration: ConnectionConfiguration
    let observer: any ConnectionObserver
    let loop: EventLoop
    let mailbox = NIOLockedValueBox(ConnectionMailbox())

    /// Creates a connection that is idle until `open`.
    package init(_ configuration: ConnectionConfiguration, loop: EventLoop, observer: any ConnectionObserver) {
        self.configuration = configuration
        self.loop = loop
        self.observer = observer
    }

    /// The state of the connection that a pool uses to choose one.
    package var load: ConnectionLoad { mailbox.withLockedValue { $0.load } }

    // MARK: Life cycle

    /// Dials. A report of `opened` or of `closed` follows. A second call does nothing.
    package func open() {
        let driver = ConnectionDriver(self)
        let isFirst = mailbox.withLockedValue { box in
            guard box.driver == nil, box.load.phase == .opening else { return false }
            box.driver = driver
            return true
        }
        guard isFirst else { return }
        // The post fails only if the loop has ended. No other thread could report that, so this one does.
        if !post({ $0.wishes.insert(.open) }) { driver.refused() }
    }

    /// Closes the connection in an orderly way. It sends GOAWAY and lets open streams finish for at most `HTTP2Timeouts.drain`; queued requests complete as
    /// unsent.
    package func close() { _ = post { $0.wishes.insert(.close) } }

    /// Closes the connection at once: queued requests complete as unsent, open ones as unknown.
    package func abort() { _ = post { $0.wishes.insert(.abort) } }

    /// Sends a PING. Either `pingAnswered` is reported, or the connection is closed.
    package func ping() { _ = post { $0.wishes.insert(.ping) } }

    // MARK: Batches

    /// Takes requests from the front of the batch as far as credits allow; the others stay in the batch.
    ///
    /// - Parameter batch: filled by the producer. It keeps allocated memory, but not necessarily the same.
    /// - Returns: how many were taken; 0 unless the connection is open. If it took fewer than the batch contains, a report follows as soon as there are
    ///   credits.
    package func submit(_ batch: inout RequestBatch) -> Int {
        guard !batch.isEmpty else { return 0 }
        var taken = 0
        _ = post { box in
            taken = box.inbox.take(box.load.credits, from: &batch)
            box.load.credits -= taken
            box.load.inFlightCount += taken
            if !batch.isEmpty { box.isStarved = true }
            return taken > 0
        }
        return taken
    }

    /// Cancels requests. Each still completes exactly once: as cancelled, or with its answer if that came first.
    package func cancel(slots: [UInt64]) {
        _ = post { box in
            box.canceled += slots
            return !slots.isEmpty
        }
    }

    /// Sets the fields that are added to each request when its stream starts, such as the current authorization; nil for none.
    ///
    /// A queued request gets the fields that are current when its stream starts, not those at the time of `submit`.
    package func setDispatchFields(_ block: HeaderBlock?) {
        mailbox.withLockedValue { $0.dispatched = block }
        _ = post { _ in true }
    }

    // MARK: Single requests

    /// Sends one request and waits for its answer. Cancelling the task cancels the request.
    ///
    /// - Parameter request: the request to send.
    /// - Throws: `noCapacity` at once if there are no credits; otherwise the reason why no answer came.
    /// - Returns: the peer's answer, whatever its status.
    package func send(_ request: Request) async throws(HTTP2Error) -> Response {
        let slot = mailbox.withLockedValue { box in
            defer { box.nextWaiter += 1 }
            return box.nextWaiter
        }
        var batch = RequestBatch()
        batch.append(request, slot: slot)
        let filled = batch
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { place(filled, slot, $0) }
        } onCancel: {
            cancel(slots: [slot])
        }
        return try result.get()
    }

    private func place(
        _ batch: RequestBatch,
        _ slot: UInt64,
        _ continuation: CheckedContinuation<Result<Response, HTTP2Error>, Never>
    ) {
        mailbox.withLockedValue { $0.waiters[slot] = continuation }
        var batch = batch
        if submit(&batch) > 0 {
            // A cancellation before the submit had no effect, so repeat it.
            if Task.isCancelled { cancel(slots: [slot]) }
            return
        }
        let waiter = mailbox.withLockedValue { $0.waiters.removeValue(forKey: slot) }
        waiter?.resume(returning: .failure(HTTP2Error(.noCapacity, isUnsent: true)))
    }

    // MARK: Posting to the loop

    /// Changes the mailbox, and wakes the loop if the closure returns true. Returns false if the loop has ended.
    private func post(_ change: (inout ConnectionMailbox) -> Bool) -> Bool {
        let driver: ConnectionDriver? = mailbox.withLockedValue { box in
            guard change(&box), !box.isScheduled else { return nil }
            box.isScheduled = box.driver != nil
            return box.driver
        }
        return driver.map { loop.wake($0) } ?? true
    }

    private func post(
        _ change: (inout ConnectionMailbox) -> (inserted: Bool, memberAfterInsert: ConnectionMailbox.Wish)
    )
        -> Bool
    {
        post { change(&$0).inserted }
    }
}

extension RequestBatch {
    /// Adds a request given as a value; its timeout starts now.
    fileprivate mutating func append(_ request: Request, slot: UInt64) {
        append(slot: slot, head: request.head, deadline: .now + request.timeout) { writer in
            writer.path(request.path)
            for (name, value) in request.fields { writer.field(name, value) }
            writer.body(request.body)
        }
    }
}
