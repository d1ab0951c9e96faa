import Glibc

/// Runs one small piece of the push path a given number of times, so that valgrind can count its instructions.
///
/// It prints only errors: `scripts/bench micro` runs each case with two counts, and the difference between the two is the piece alone, without the start of the
/// program.
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
    /// Encodes a typed alert as JSON.
    case payloadEncode = "payload-encode"
    /// Encodes and checks a typed alert, and creates a push with its own copy of the bytes.
    case pushMake = "push-make"
    /// Encodes a push as a request in a batch: path, fields, body.
    case requestEncode = "request-encode"
    /// Sends a request through the session and reads its answer: HPACK and frames.
    case sessionRoundTrip = "session-round-trip"
    /// Reuses a provider token.
    case tokenReuse = "token-reuse"
    /// Signs a provider token.
    case tokenSign = "token-sign"

    /// Runs the piece `count` times.
    ///
    /// - Throws: the piece's error, which means that the code is broken.
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

/// A result that the piece did not expect.
struct PieceFailure: Error {
    let sentence: String
}
