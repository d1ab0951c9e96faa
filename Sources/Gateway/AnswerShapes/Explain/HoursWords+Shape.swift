import Explain
import Model

/// The JSON form of a wait.
extension HoursWords {
    static let shape = AnswerShape<HoursWords>(
        "WaitingHours",
        [
            .time("until", "When the push can be sent.") { $0.until },
            .word("because", "The cause of the wait.") { $0.why },
            .text("timeZone", "The zone of the hours.", example: "Asia/Seoul") { $0.hoursZone.text },
        ]
    )
}
