/// The server's counts. The run that started it compares them with its client's counts.
struct ServerCounts {
    var connections = 0
    /// Requests that were received completely.
    var requests = 0
    /// Answers written.
    var answers = 0
    /// Streams refused because too many were open.
    var refused = 0
    /// Streams that a client reset before their answer.
    var resets = 0
    /// Connections that ended by an error.
    var errors = 0

    /// The counts as one line of JSON.
    var json: String {
        #"{"connections":\#(connections),"requests":\#(requests),"answers":\#(answers),"refused":\#(refused),"#
            + #""resets":\#(resets),"errors":\#(errors)}"#
    }
}
