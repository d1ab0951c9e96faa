/// The sizes and counts of templates. One caller writes a text, and it is rendered for many users, so each limit applies many times.
enum LiquidLimits {
    /// 16 KiB for the texts of one push with their expressions: the result must fit in 4 KiB, but the source also contains the branches that are not taken.
    static let sourceBytes = 16 * 1024
    /// 1,000 literals, expressions and tags in one text.
    static let nodeCount = 1000
    /// 8 nested conditions: rendering recurses once for each.
    static let depth = 8
    /// 20 filters after one value, and 20 comparisons in one condition.
    static let chainCount = 20
    /// 255 bytes per name, as for the vendor's attributes (docs/contracts/braze.md#4.4).
    static let nameBytes = 255
    /// 64 bytes per number: people write shorter ones, and exponents must not enlarge texts.
    static let numberBytes = 64
    /// 64 bytes per date format.
    static let formatBytes = 64
    /// 262,144 steps to render one push. A step is a node, a filter, or a byte that one of them reads.
    static let stepCount = 256 * 1024
    /// 16 KiB for the rendered texts of one push. Larger texts do not fit any push and are detected before it is built.
    static let outputBytes = 16 * 1024
    /// Error messages contain at most 64 characters of an expression.
    static let excerptCharacters = 64
}

/// An expression that is not supported, as the caller wrote it, shortened.
struct LiquidFault: Error, Hashable {
    var expression: String
}

/// The reason why a template produces no push for a target.
enum LiquidProblem: Error, Hashable {
    /// The template called `abort_message`.
    case aborted
    /// Rendering exceeded the limit for steps or bytes.
    case tooLong
}
