import Dispatch
import Glibc

/// One of our clients under load, for `bench-runner` to measure from outside: CPU and memory are those of this process.
///
/// Prints one line of JSON: what was sent, what came back, how long it took from the first dial to the last answer.
@main
struct ApnsBench {
    // Not `async`: valgrind 3.19 cannot follow a main thread that Dispatch has taken over.
    static func main() {
        do {
            let options = try LoadOptions(CommandLine.arguments.dropFirst())
            if options.client == .tokens {
                for number in 0..<options.tokenCount { print(Addressee.tokenText(number)) }
                return
            }
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                await run(options)
                done.signal()
            }
            done.wait()
        } catch {
            fail(error)
        }
    }

    private static func run(_ options: LoadOptions) async {
        do {
            let counts =
                switch options.client {
                case .core: try await CoreLoad(options).runBatches()
                case .queue: try await CoreLoad(options).runQueue()
                case .http2, .tokens: try await BareLoad(options).run()
                }
            print(counts.json)
            if counts.accepted != options.requestCount { exit(1) }
        } catch {
            fail(error)
        }
    }

    private static func fail(_ error: any Error) -> Never {
        let words = Array("apns-bench: \(error)\n".utf8)
        _ = unsafe write(2, words, words.count)
        exit(2)
    }
}
