import Glibc

/// Runs one small piece of the push path so many times, for valgrind to count its instructions.
///
/// It prints nothing of its own but errors: `scripts/bench micro` runs each case with two counts, and the difference between the two is the
/// piece alone, without the start of the program.
@main
enum MicroBench {
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.count == 2, arguments[1] == "--list" {
            for piece in Piece.allCases { print(piece.rawValue) }
            return
        }
        guard arguments.count == 4, let piece = Piece(rawValue: arguments[1]), let count = Int(arguments[2]) else {
            print("usage: micro-bench --list | micro-bench CASE COUNT KEY.p8")
            exit(2)
        }
        do {
            try piece.run(count, keyFile: arguments[3])
        } catch {
            print("micro-bench: \(error)")
            exit(1)
        }
    }
}

/// The measured code.
enum Piece: String, CaseIterable {
    /// A typed alert to JSON.
    case payloadEncode = "payload-encode"
    /// The same, checked and made a push with its own copy of the bytes.
    case pushMake = "push-make"
    /// A push to a request in a batch: path, fields, body.
    case requestEncode = "request-encode"
    /// A request through the session: HPACK, frames, and its answer back.
    case sessionRoundTrip = "session-round-trip"
    /// A provider token that is taken again.
    case tokenReuse = "token-reuse"
    /// A provider token that is signed.
    case tokenSign = "token-sign"

    /// Does it `count` times.
    ///
    /// - Throws: what the piece throws: then something is broken.
    func run(_ count: Int, keyFile: String) throws {
        switch self {
        case .payloadEncode: try PushPieces().encodePayloads(count)
        case .pushMake: try PushPieces().makePushes(count)
        case .requestEncode: try PushPieces().encodeRequests(count)
        case .sessionRoundTrip: try SessionPiece().roundTrips(count)
        case .tokenReuse: try TokenPieces(keyFile: keyFile).reuse(count)
        case .tokenSign: try TokenPieces(keyFile: keyFile).sign(count)
        }
    }
}

/// Something was not as the piece expects it.
struct PieceFailure: Error {
    let sentence: String
}
