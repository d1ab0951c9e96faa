internal import NIOConcurrencyHelpers

/// A client's HTTP/2 connection over TLS.
///
/// Made by a pool, which gives it work and picks among several; ended by `close` or `abort`, by the peer or by a failure, always
/// with one last report of `closed`. Once opened it lives on its loop until then, whoever lets go of it. Any thread may call it.
///
/// The doors:
/// - **`submit`** takes as many requests from the front of a batch as there are credits, and says how many. The *producer*
///   encodes path, fields and payload into the batch, on its own thread, in memory it uses again; the *pool* above decides which
///   connection gets the batch. Credits are the peer's stream limit and a short queue behind it, less what is in flight.
/// - The **observer** gets completions in batches, with the caller's slot ids, and the credits, once per wake-up. Each
///   submitted request completes exactly once.
/// - **Cancellation and deadline** belong to the slot: `cancel(slots:)` and the deadline given to the batch.
/// - **`send`** is a thin one-at-a-time door for rare requests. Its continuation costs more than the whole batched way.
package final class Connection: Sendable {
    let configuration: ConnectionConfiguration
    let observer: any ConnectionObserver
    let loop: EventLoop
    let mailbox = NIOLockedValueBox(ConnectionMailbox())

    /// Makes a connection that does nothing yet.
    package init(_ configuration: ConnectionConfiguration, loop: EventLoop, observer: any ConnectionObserver) {
        self.configuration = configuration
        self.loop = loop
        self.observer = observer
    }

    /// What a pool looks at when it picks.
    package var load: ConnectionLoad { mailbox.withLockedValue { $0.load } }

    // MARK: Its life

    /// Dials. A report of `opened` follows, or one of `closed`. A second call does nothing.
    package func open() {
        let driver = ConnectionDriver(self)
        let isFirst = mailbox.withLockedValue { box in
            guard box.driver == nil, box.load.phase == .opening else { return false }
            box.driver = driver
            return true
        }
        guard isFirst else { return }
        // Only a loop that has ended does not take it; then there is no thread to report on but this one.
        if !post({ $0.wishes.insert(.open) }) { driver.refused() }
    }

    /// Ends in good order: GOAWAY, open streams finish, at most `HTTP2Timeouts.drain` long; queued requests complete as unsent.
    package func close() { _ = post { $0.wishes.insert(.close) } }

    /// Ends at once: queued requests complete as unsent, open ones as unknown.
    package func abort() { _ = post { $0.wishes.insert(.abort) } }

    /// Asks the peer for a sign of life; `pingAnswered` is reported, or the connection is closed.
    package func ping() { _ = post { $0.wishes.insert(.ping) } }

    // MARK: The batch doors

    /// Takes requests from the front of the batch as far as credits allow; what it does not take stays in the batch.
    ///
    /// - Parameter batch: filled by the producer. It keeps memory, not necessarily the same.
    /// - Returns: how many were taken: 0 unless the connection is open. Below the batch's count, a report with credits follows
    ///   as soon as there are any.
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

    /// Gives requests up. Each still completes exactly once: as cancelled, or with the answer that came first.
    package func cancel(slots: [UInt64]) {
        _ = post { box in
            box.canceled += slots
            return !slots.isEmpty
        }
    }

    /// Sets the fields that each request gets when its stream is started, such as the current authorization; nil for none.
    ///
    /// A request that waits in the queue gets the fields of the moment it leaves, not those of the moment it was submitted.
    package func setDispatchFields(_ block: HeaderBlock?) {
        mailbox.withLockedValue { $0.dispatched = block }
        _ = post { _ in true }
    }

    // MARK: The one-at-a-time door

    /// Sends one request and waits for its answer. Cancelling the task cancels the request.
    ///
    /// - Parameter request: what to send.
    /// - Throws: `noCapacity` at once if there is no credit; else why there is no answer.
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
            // A cancellation that came before the submit found nothing to cancel.
            if Task.isCancelled { cancel(slots: [slot]) }
            return
        }
        let waiter = mailbox.withLockedValue { $0.waiters.removeValue(forKey: slot) }
        waiter?.resume(returning: .failure(HTTP2Error(.noCapacity, isUnsent: true)))
    }

    // MARK: The way to the loop

    /// Changes the mailbox and wakes the loop if the closure says that it has to come; false if there is nobody to come.
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
    /// Adds a request that is a value; its timeout starts now.
    fileprivate mutating func append(_ request: Request, slot: UInt64) {
        append(slot: slot, head: request.head, deadline: .now + request.timeout) { writer in
            writer.path(request.path)
            for (name, value) in request.fields { writer.field(name, value) }
            writer.body(request.body)
        }
    }
}
