/// What happens to a stream or its connection instead of an answer, or beside it.
package enum Fault: Sendable, Equatable {
    /// RST_STREAM with this error code; 7 is REFUSED_STREAM.
    case reset(code: Int)
    /// GOAWAY, in one of its many forms.
    case goingAway(GoAwayFault)
    /// No answer, ever.
    case silence
    /// The TCP connection ends in order: close_notify, FIN.
    case close
    /// The TCP connection ends with RST.
    case tcpReset
    /// The first half of the bytes that were due, and then this.
    case half(then: Ending)
    /// A TLS alert as raw bytes; nil takes the code that fits the moment.
    case tlsAlert(code: UInt8?)
    /// Nothing is read or written any more, until so long has passed.
    case freeze(until: Duration?)
    /// SETTINGS with another stream limit.
    case settings(StreamLimitChange)
    /// SETTINGS with another initial window, and no WINDOW_UPDATE until so long has passed.
    case starve(windowBytes: Int, until: Duration?)
    /// These bytes, inside TLS.
    case raw([UInt8])
    /// What the service does before it goes down: 503 `Shutdown` for new streams, GOAWAY, drain, close (row 34).
    case shutDown
    /// TLS's first bytes are held back so long.
    case slowHandshake(Duration)

    /// How a connection ends after a fault.
    package enum Ending: String, Sendable, CaseIterable {
        /// After a moment in which the peer can read what was sent.
        case close
        /// When every stream that was not given up is answered.
        case drain
        /// At once, with a TCP RST.
        case tcpReset
        /// Not at all.
        case stay
    }

    /// The first half of the answer's bytes, then the end of the TCP connection.
    package static let halfFrame = Fault.half(then: .close)

    /// GOAWAY with this code and JSON reason; the stream that met it counts as not processed unless `isProcessed`. Then a close.
    package static func goAway(code: Int, reason: String, isProcessed: Bool) -> Fault {
        .goingAway(
            GoAwayFault(code: code, debugText: GoAwayFault.json(reason), lastStream: isProcessed ? .this : .before)
        )
    }

    /// The fault's word in a script, in statistics and in records.
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

    /// Whether the push that met it gets no answer of its own.
    package var replacesAnswer: Bool {
        switch self {
        case .settings, .starve, .raw, .shutDown, .slowHandshake: false
        case .goingAway(let goAway): goAway.lastStream != .this && goAway.lastStream != .max
        // A connection that thaws answers then.
        case .freeze(let end): end == nil
        case .reset, .silence, .close, .tcpReset, .half, .tlsAlert: true
        }
    }

    /// Whether it can be played when there is no stream yet: at `open`, or on an open connection.
    var fitsConnection: Bool {
        switch self {
        case .reset, .slowHandshake: false
        case .goingAway, .silence, .close, .tcpReset, .half, .tlsAlert, .freeze, .settings, .starve, .raw, .shutDown:
            true
        }
    }

    /// Whether it can be played before TLS.
    var fitsAccept: Bool {
        switch self {
        case .silence, .close, .tcpReset, .tlsAlert, .freeze, .slowHandshake: true
        case .reset, .goingAway, .half, .settings, .starve, .raw, .shutDown: false
        }
    }
}

/// A GOAWAY frame, or two of them, and what follows.
package struct GoAwayFault: Sendable, Equatable {
    /// Which stream it names as the last one that was or may be processed.
    package enum LastStream: String, Sendable, CaseIterable {
        /// The one before the stream that met the fault: that one is not processed.
        case before
        /// The stream that met the fault, which is answered too.
        case this
        /// 2^31−1: nothing is said about any stream.
        case max
        /// 0: nothing at all was processed.
        case zero
    }

    /// Whether there are two frames.
    package enum Repetition: String, Sendable, CaseIterable {
        /// The same frame twice (pushy#312, observed).
        case same
        /// First one that names 2^31−1, then the real one (RFC 9113 §6.8).
        case graceful
    }

    /// HTTP/2 error code.
    package var code: Int

    /// The debug data, as it is: Apple's JSON, other text, or nothing.
    package var debugText: String

    /// Which stream it names.
    package var lastStream: LastStream

    /// nil for one frame.
    package var repetition: Repetition?

    /// What follows.
    package var ending: Fault.Ending

    /// A GOAWAY frame in this form.
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

    /// Apple's debug data for a reason.
    package static func json(_ reason: String) -> String { "{\"reason\":\"\(reason)\"}" }
}

/// A new stream limit, for a while or for good.
package struct StreamLimitChange: Sendable, Equatable {
    /// What SETTINGS_MAX_CONCURRENT_STREAMS becomes, 0...4096.
    package var streams: Int

    /// When the old limit comes back; nil for never.
    package var restoredAfter: Duration?

    /// Whether open streams above it are reset with REFUSED_STREAM, as the real service did (pushy#356).
    package var refusesStreamsAbove: Bool

    /// A change of the limit.
    package init(streams: Int, restoredAfter: Duration? = nil, refusesStreamsAbove: Bool = false) {
        self.streams = streams
        self.restoredAfter = restoredAfter
        self.refusesStreamsAbove = refusesStreamsAbove
    }
}
