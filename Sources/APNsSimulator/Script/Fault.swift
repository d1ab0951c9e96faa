/// A fault of a stream or its connection, which replaces or accompanies an answer.
package enum Fault: Sendable, Equatable {
    /// RST_STREAM with this error code; 7 is REFUSED_STREAM.
    case reset(code: Int)
    /// GOAWAY, in one of several forms.
    case goingAway(GoAwayFault)
    /// No answer at all.
    case silence
    /// The TCP connection is closed in an orderly way: close_notify, FIN.
    case close
    /// The TCP connection is reset by RST.
    case tcpReset
    /// The first half of the pending bytes, followed by this ending.
    case half(then: Ending)
    /// A TLS alert as raw bytes; nil selects the code that suits the phase of the connection.
    case tlsAlert(code: UInt8?)
    /// The connection reads and writes nothing until this time has passed.
    case freeze(until: Duration?)
    /// SETTINGS with another stream limit.
    case settings(StreamLimitChange)
    /// SETTINGS with another initial window, and no WINDOW_UPDATE until this time has passed.
    case starve(windowBytes: Int, until: Duration?)
    /// These bytes, inside TLS.
    case raw([UInt8])
    /// The shutdown of the service: 503 `Shutdown` for new streams, GOAWAY, drain, close (row 34).
    case shutDown
    /// The first bytes of TLS are delayed by this time.
    case slowHandshake(Duration)

    /// How a connection ends after a fault.
    package enum Ending: String, Sendable, CaseIterable {
        /// Close after a short delay, in which the peer can read the last bytes.
        case close
        /// Close when every stream that was not reset is answered.
        case drain
        /// Close at once, with a TCP RST.
        case tcpReset
        /// Do not close.
        case stay
    }

    /// The fault's name in a script, in statistics and in records.
    package var name: String {
        switch self {
        case .reset: "reset"
        case .goingAway: "goaway"
        case .silence: "silence"
        case .close: "close"
        case .tcpReset: "tcpReset"
        case .half: "half"
        case .tlsAlert: "tlsAlert"
        case .freeze: "freeze"
        case .settings: "settings"
        case .starve: "starve"
        case .raw: "raw"
        case .shutDown: "shutdown"
        case .slowHandshake: "slowHandshake"
        }
    }

    /// Whether the affected push gets no answer of its own.
    package var replacesAnswer: Bool {
        switch self {
        case .settings, .starve, .raw, .shutDown, .slowHandshake: false
        case .goingAway(let goAway): goAway.lastStream != .this && goAway.lastStream != .max
        // With an end, the connection answers after it.
        case .freeze(let end): end == nil
        case .reset, .silence, .close, .tcpReset, .half, .tlsAlert: true
        }
    }

    /// Whether it can be injected without a stream: at `open`, or on an open connection.
    var fitsConnection: Bool {
        switch self {
        case .reset, .slowHandshake: false
        case .goingAway, .silence, .close, .tcpReset, .half, .tlsAlert, .freeze, .settings, .starve, .raw, .shutDown:
            true
        }
    }

    /// Whether it can be injected before TLS.
    var fitsAccept: Bool {
        switch self {
        case .silence, .close, .tcpReset, .tlsAlert, .freeze, .slowHandshake: true
        case .reset, .goingAway, .half, .settings, .starve, .raw, .shutDown: false
        }
    }
}

/// One or two GOAWAY frames, and the ending.
package struct GoAwayFault: Sendable, Equatable {
    /// The stream that the frame names as the last one that was or may be processed.
    package enum LastStream: String, Sendable, CaseIterable {
        /// The stream before the affected one, which is therefore not processed.
        case before
        /// The affected stream, which is answered as well.
        case this
        /// 2^31−1, which states nothing about any stream.
        case max
        /// 0: no stream was processed.
        case zero
    }

    /// How two frames differ.
    package enum Repetition: String, Sendable, CaseIterable {
        /// The same frame twice (pushy#312, observed).
        case same
        /// The first one names 2^31−1, the second one the real stream (RFC 9113 §6.8).
        case graceful
    }

    /// HTTP/2 error code.
    package var code: Int

    /// The debug data, sent unchanged: Apple's JSON, other text, or nothing.
    package var debugText: String

    /// The stream that it names.
    package var lastStream: LastStream

    /// Nil for one frame.
    package var repetition: Repetition?

    /// The ending after the frames.
    package var ending: Fault.Ending

    /// Creates a GOAWAY of this form.
    package init(
        code: Int = 0,
        debugText: String = GoAwayFault.json(Reason.shutdown.rawValue),
        lastStream: LastStream = .before,
        repetition: Repetition? = nil,
        ending: Fault.Ending = .close
    ) {
        self.code = code
        self.debugText = debugText
        self.lastStream = lastStream
        self.repetition = repetition
        self.ending = ending
    }

    /// The debug data that Apple sends for a reason.
    package static func json(_ reason: String) -> String { "{\"reason\":\"\(reason)\"}" }
}

/// A new stream limit, temporary or permanent.
package struct StreamLimitChange: Sendable, Equatable {
    /// The new SETTINGS_MAX_CONCURRENT_STREAMS, 0...4096.
    package var streams: Int

    /// When the old limit is restored; nil for never.
    package var restoredAfter: Duration?

    /// Whether open streams above it are reset with REFUSED_STREAM, as the real service did (pushy#356).
    package var refusesStreamsAbove: Bool

    /// Creates a change of the limit.
    package init(streams: Int, restoredAfter: Duration? = nil, refusesStreamsAbove: Bool = false) {
        self.streams = streams
        self.restoredAfter = restoredAfter
        self.refusesStreamsAbove = refusesStreamsAbove
    }
}
