import Dispatch
import Glibc

/// One of our clients under load. `bench-runner` measures it from outside: CPU and memory are those of this process.
///
/// It prints one line of JSON: the number of pushes, the answers, and the time from the first dial to the last answer.
@main
struct ApnsBench {
    // Not `async`, because valgrind 3.19 cannot follow a main thread that is controlled by Dispatch.
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
