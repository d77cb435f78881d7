FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app

COPY requirements.txt ./
RUN pip install --require-hashes --only-binary=:all: -r requirements.txt

COPY deploy/setup.py deploy/model.txt deploy/
RUN python deploy/setup.py --model /opt/models/bge-small-en-v1.5-int8

RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /data brain \
    && install -d -o brain -g brain -m 0700 /data
COPY . .
RUN python -m compileall -q accounts graph memory brainsite

USER brain
ENV BRAIN_DATA_DIR=/data BRAIN_MODEL_DIR=/opt/models/bge-small-en-v1.5-int8
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "brainsite.asgi:application", "--host", "0.0.0.0", "--port", "8000", \
     "--no-access-log", "--no-server-header", "--timeout-graceful-shutdown", "8"]
