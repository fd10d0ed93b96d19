"""Transport of requests and streamed responses, shared by the providers."""
