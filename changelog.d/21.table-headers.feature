Tables of `/v1/analytics` (`format=csv`) state in headers what the JSON states next to the figures: `X-Zone`, `X-Days-Only-Until`, `X-Days-Only-Zones`, `X-Counted-From` and `X-Counted-Until`.
